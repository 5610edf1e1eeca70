"""The demo: a fleet of drones, two pipelines, and the comparison of what came out with what was sent."""

from headrace.demo.check import Expected, Report, check, expect
from headrace.demo.fleet import Event, Fleet
from headrace.demo.pipelines import drones_sql, heights_text

__all__ = ["Event", "Expected", "Fleet", "Report", "check", "drones_sql", "expect", "heights_text"]
