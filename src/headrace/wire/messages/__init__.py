"""Requests and responses as frozen dataclasses, each holding the fields of all versions of its API."""
