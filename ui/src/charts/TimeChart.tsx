import "uplot/dist/uPlot.min.css";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import classes from "./TimeChart.module.css";

const HEIGHT_PX = 120;
// One line: the date, which the library would write below, has no room and says nothing about the last minutes.
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });

export interface Series {
  readonly timesS: readonly number[];
  readonly values: readonly number[];
}

interface TimeChartProps {
  title: string;
  series: Series;
  /** The colour, as the name of a CSS variable. */
  color: string;
  /** How a value is written, on the axis and in the title. */
  format: (value: number) => string;
}

/** One line over time. The newest value stands in the title, also for those who cannot see the line. */
export function TimeChart({ title, series, color, format }: TimeChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const scheme = useComputedColorScheme("light");
  const newest = series.values.at(-1);

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read anew when the scheme changes
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new uPlot(options(element, color, format), [[], []], element);
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    );
    observer.observe(element);
    chart.current = made;
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [color, format, scheme]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart that was made anew is empty
  useEffect(() => {
    chart.current?.setData([[...series.timesS], [...series.values]]);
  }, [series, color, format, scheme]);

  const text = newest === undefined ? "–" : format(newest);
  return (
    <figure className={classes.chart} aria-label={`${title}: ${text}`}>
      <figcaption className={classes.caption}>
        <span>{title}</span>
        <strong>{text}</strong>
      </figcaption>
      <div ref={place} aria-hidden className={classes.place} />
    </figure>
  );
}

function options(element: HTMLElement, color: string, format: (value: number) => string): uPlot.Options {
  const style = getComputedStyle(element);
  const [line, text, grid] = [color, "--hr-text-soft", "--hr-line"].map((name) =>
    style.getPropertyValue(name),
  );
  const axis = {
    stroke: text ?? "",
    grid: { stroke: grid ?? "", width: 1 },
    ticks: { show: false },
    font: "11px sans-serif",
  };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    // From zero, so that a small change does not look like a large one.
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] } },
    axes: [
      {
        ...axis,
        size: 24,
        space: 80,
        values: (_plot, splits) => splits.map((value) => CLOCK.format(value * 1000)),
      },
      { ...axis, size: 52, space: 36, values: (_plot, splits) => splits.map((value) => format(value)) },
    ],
    series: [
      {},
      {
        stroke: line ?? "",
        width: 1.5,
        fill: `color-mix(in srgb, ${line} 12%, transparent)`,
        points: { show: false },
      },
    ],
  };
}
