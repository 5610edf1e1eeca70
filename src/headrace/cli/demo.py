"""`headrace demo`: a fleet of drones, live; at the end what came out is compared with what was sent."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from headrace.cli.browser import open_editor
from headrace.cli.options import Json
from headrace.cli.output import console, print_json

if TYPE_CHECKING:
    from headrace.demo.check import Report
    from headrace.demo.run import Demo, DemoSettings

REFRESH_S: Final = 0.4
LOOK_S: Final = 0.1


def command(
    *,
    headless: Annotated[bool, typer.Option("--headless", help="No live view.")] = False,
    until_events: Annotated[
        int | None, typer.Option("--until-events", min=1, help="End after so many events; default: at Ctrl-C.")
    ] = None,
    rate: Annotated[float, typer.Option("--rate", min=1, help="Events per second.")] = 1_000,
    drones: Annotated[int, typer.Option("--drones", min=1, max=1_000, help="How many drones.")] = 50,
    seed: Annotated[int | None, typer.Option("--seed", help="The same seed makes the same telemetry.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", "-d", help="Keep the data here; default: a temporary directory.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the editor in a browser, where there is a screen.")] = True,
    as_json: Json = False,
) -> None:
    """Run a fleet of drones through two pipelines. Exits with 1 if anything was lost, doubled or wrong."""
    from headrace.demo.run import DemoSettings  # noqa: PLC0415

    chosen = secrets.randbelow(1_000_000) if seed is None else seed
    settings = DemoSettings(chosen, rate, until_events, drones, data_dir)
    report, seconds = _run(settings, live=not (headless or as_json), browser=browser)
    _print_report(report, settings, seconds, as_json)
    raise typer.Exit(0 if report.is_clean else 1)


def _run(settings: DemoSettings, *, live: bool, browser: bool) -> tuple[Report, float]:
    from headrace.demo.pipelines import DRONES  # noqa: PLC0415
    from headrace.demo.run import Demo  # noqa: PLC0415

    out = console()

    def say(sentence: str) -> None:
        if live:
            out.print(sentence, style="dim", markup=False)

    with Demo(settings, say) as running:
        try:
            if live:
                url = f"{running.info.url_with_token}#/pipelines/{DRONES}"
                out.print(f"\n  editor  {url}\n", markup=False, soft_wrap=True)
                if browser:
                    open_editor(url)
                _show(running)
            else:
                _wait(running)
        except KeyboardInterrupt:
            say("Ctrl-C again leaves without the comparison")
        report = running.finish()
        return report, running.seconds


def _wait(running: Demo) -> None:
    """Until all events were sent."""
    while running.feed.is_alive():
        running.look()
        time.sleep(LOOK_S)


def _show(running: Demo) -> None:
    from rich.live import Live  # noqa: PLC0415

    from headrace.demo.view import View  # noqa: PLC0415

    view = View(running)
    with Live(view.picture(running.look()), auto_refresh=False, screen=False, transient=True) as screen:
        while running.feed.is_alive():
            screen.update(view.picture(running.look()), refresh=True)
            time.sleep(REFRESH_S)


def _print_report(report: Report, settings: DemoSettings, seconds: float, as_json: bool) -> None:
    from headrace.demo.run import demo_result  # noqa: PLC0415

    if as_json:
        print_json(demo_result(report, settings, seconds))
        return
    out = console()
    figures = f"{report.lost} lost, {report.duplicated} doubled, {report.wrong} wrong"
    style = "bold green" if report.is_clean else "bold red"
    out.print(f"{report.events_in:,} events in, {report.events_out:,} rows out in {seconds:.0f} s: ", end="")
    out.print(figures, style=style)
    for example in report.examples:
        out.print(f"  {example}", style="red", markup=False)
