"""Child processes that end with their parent, the data directory's lock, who runs there, and who may come in."""

from headrace.process.child import Child, Command
from headrace.process.data_directory import DATA_FORMAT, DataDirectory
from headrace.process.files import write_atomically
from headrace.process.ports import require_free_port
from headrace.process.run_file import RunInfo
from headrace.process.supervisor import Supervisor, SupervisorLimits
from headrace.process.token_file import keep_token

__all__ = [
    "DATA_FORMAT",
    "Child",
    "Command",
    "DataDirectory",
    "RunInfo",
    "Supervisor",
    "SupervisorLimits",
    "keep_token",
    "require_free_port",
    "write_atomically",
]
