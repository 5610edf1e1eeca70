"""Serial operators: Python in the stream, strictly in order, with state by name. No Spark in here.

The same code runs inside Spark's tasks, in tests and in a plain script.
"""

from headrace.serial.batch import Batch, Copies
from headrace.serial.boundary import FAIL, DeadLetter, OnError, OperatorFailed
from headrace.serial.chain import Chain, Link, Moment, NodeReport, Step
from headrace.serial.context import Context, microseconds, timestamps
from headrace.serial.contract import API_VERSION, Operator
from headrace.serial.files import LocalFiles, StateFiles
from headrace.serial.functions import BatchFunction, RowFunction, per_batch, per_row
from headrace.serial.items import ValueState
from headrace.serial.key_hash import lane_of
from headrace.serial.keyed_rings import KeyedRings
from headrace.serial.keyed_table import KeyedTable
from headrace.serial.keys import Groups, group
from headrace.serial.lanes import LaneInput, LaneResult, LaneRun
from headrace.serial.outside import Delivery, RowSink, RowSource
from headrace.serial.partitioning import Partitioning
from headrace.serial.row_types import batch_from, rows_from, schema_of
from headrace.serial.signals import Signal
from headrace.serial.sql_functions import SqlFunction, sql_aggregate, sql_function
from headrace.serial.state import NodeState
from headrace.serial.store import StateStore
from headrace.serial.timers import Timer, Timers
from headrace.serial.versions import Manifest, Version, manifest_from_json, manifest_to_json
from headrace.serial.watermark import END_OF_TIME_US, Progress

__all__ = [
    "API_VERSION",
    "END_OF_TIME_US",
    "FAIL",
    "Batch",
    "BatchFunction",
    "Chain",
    "Context",
    "Copies",
    "DeadLetter",
    "Delivery",
    "Groups",
    "KeyedRings",
    "KeyedTable",
    "LaneInput",
    "LaneResult",
    "LaneRun",
    "Link",
    "LocalFiles",
    "Manifest",
    "Moment",
    "NodeReport",
    "NodeState",
    "OnError",
    "Operator",
    "OperatorFailed",
    "Partitioning",
    "Progress",
    "RowFunction",
    "RowSink",
    "RowSource",
    "Signal",
    "SqlFunction",
    "StateFiles",
    "StateStore",
    "Step",
    "Timer",
    "Timers",
    "ValueState",
    "Version",
    "batch_from",
    "group",
    "lane_of",
    "manifest_from_json",
    "manifest_to_json",
    "microseconds",
    "per_batch",
    "per_row",
    "rows_from",
    "schema_of",
    "sql_aggregate",
    "sql_function",
    "timestamps",
]
