"""Memory shared without a copy: files mapped for reading."""

from headrace.memory.mapped import MappedFile

__all__ = ["MappedFile"]
