"""Child processes that end with their parent, the data directory's lock, and the file that tells who runs where."""

from headrace.process.child import Child, Command
from headrace.process.data_directory import DATA_FORMAT, DataDirectory
from headrace.process.files import write_atomically
from headrace.process.ports import require_free_port
from headrace.process.run_file import RunInfo
from headrace.process.supervisor import Supervisor, SupervisorLimits

__all__ = [
    "DATA_FORMAT",
    "Child",
    "Command",
    "DataDirectory",
    "RunInfo",
    "Supervisor",
    "SupervisorLimits",
    "require_free_port",
    "write_atomically",
]
