"""The server process: HTTP API, events, security; and the stack of broker and server that `headrace up` runs."""
