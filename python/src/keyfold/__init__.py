"""Keyfold, a state store for Apache Spark Structured Streaming: setup and inspection."""

from keyfold._version import __version__
from keyfold.checkpoint import Checkpoint, open_checkpoint
from keyfold.description import Description
from keyfold.errors import KeyfoldError
from keyfold.session import configure, jar_path

__all__ = [
    "Checkpoint",
    "Description",
    "KeyfoldError",
    "__version__",
    "configure",
    "jar_path",
    "open_checkpoint",
]
