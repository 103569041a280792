"""Keyfold, a state store for Apache Spark Structured Streaming: set up, look inside, change."""

from keyfold._version import __version__
from keyfold.admin.evolve import evolve
from keyfold.admin.migrate import migrate, undo_migration
from keyfold.admin.redistribute import redistribute
from keyfold.admin.rescale import plan_rescale, rescale, undo_rescale
from keyfold.checkpoint import Checkpoint, open_checkpoint, pipeline_flows
from keyfold.describe.description import Description
from keyfold.doctor.report import Advice, DoctorReport
from keyfold.errors import KeyfoldError
from keyfold.fsck.finding import Finding
from keyfold.fsck.report import FsckReport
from keyfold.session import configure, jar_path
from keyfold.setup.check import check
from keyfold.setup.report import SetupFinding, SetupReport
from keyfold.spark_log.flows import Flow
from keyfold.subtasks.function import OperatorContext, OperatorFunction
from keyfold.subtasks.operator import with_operator_state
from keyfold.table.operator import Operator
from keyfold.table.scan import Scan
from keyfold.table.state_table import StateTable
from keyfold.text.arrow_values import to_pylist
from keyfold.write import bootstrap, write_state

__all__ = [
    "Advice",
    "Checkpoint",
    "Description",
    "DoctorReport",
    "Finding",
    "Flow",
    "FsckReport",
    "KeyfoldError",
    "Operator",
    "OperatorContext",
    "OperatorFunction",
    "Scan",
    "SetupFinding",
    "SetupReport",
    "StateTable",
    "__version__",
    "bootstrap",
    "check",
    "configure",
    "evolve",
    "jar_path",
    "migrate",
    "open_checkpoint",
    "pipeline_flows",
    "plan_rescale",
    "redistribute",
    "rescale",
    "to_pylist",
    "undo_migration",
    "undo_rescale",
    "with_operator_state",
    "write_state",
]
