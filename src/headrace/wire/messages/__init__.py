"""Requests and responses as named tuples, each holding the fields of all versions of its API.

There are about 200 of them, and a broker makes all when it starts: a dataclass takes eight times as long to make.
"""
