"""Pipelines to begin with: each makes its own rows, so that it runs at once, on an empty log."""

from headrace.templates.library import Template, load_templates

__all__ = ["Template", "load_templates"]
