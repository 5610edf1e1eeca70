"""Groups, committed offsets and transactions as state machines: no sockets, no files, and the time is told to them."""
