"""Benchmarks: each suite compares Headrace with peers in one run on one machine, and gives a report."""

from headrace.bench.report import Report, Result

__all__ = ["Report", "Result"]
