"""The server process: HTTP API, events, security; and the stack of broker and server that `headrace up` runs."""

from headrace.server.settings import ServerLimits, ServerSettings
from headrace.server.stack import BackgroundStack, Stack, StackSettings

__all__ = ["BackgroundStack", "ServerLimits", "ServerSettings", "Stack", "StackSettings"]
