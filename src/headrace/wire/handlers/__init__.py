"""One function per request; `table` says which."""
