"""Every error this package raises: one root, one class for each condition a caller can act on."""

from __future__ import annotations

from typing import ClassVar

from keyfold.text.printable import printable


class KeyfoldError(Exception):
    """Root of all errors of this package.

    `condition` is the stable name of the kind of error, the same as in the JVM; the message is for
    people and may change.
    """

    condition: ClassVar[str] = "KEYFOLD_ERROR"

    def __str__(self) -> str:
        """Condition and message."""
        return printable(f"[{self.condition}] {super().__str__()}")


class FileCorruptError(KeyfoldError):
    """A file of Keyfold is damaged, or is another file than its name says."""

    condition = "KEYFOLD_FILE_CORRUPT"


class FormatVersionError(KeyfoldError):
    """A file was written in a newer format than this release can read."""

    condition = "KEYFOLD_FORMAT_VERSION"


class NotAKeyfoldFileError(KeyfoldError):
    """A file was not written by Keyfold."""

    condition = "KEYFOLD_NOT_A_KEYFOLD_FILE"


class FileMissingError(KeyfoldError):
    """A file does not exist.

    `path` is its path in the checkpoint, if one file is meant.
    """

    condition = "KEYFOLD_FILE_MISSING"

    def __init__(self, message: str, path: str | None = None) -> None:
        """Keeps the path beside the message."""
        super().__init__(message)
        self.path = path


class KeyGroupsMismatchError(KeyfoldError):
    """Files of one version have different numbers of key groups."""

    condition = "KEYFOLD_KEY_GROUPS_MISMATCH"


class PartitionsMismatchError(KeyfoldError):
    """Files of one version, or files and query, have different numbers of partitions."""

    condition = "KEYFOLD_PARTITIONS_MISMATCH"


class StorageError(KeyfoldError):
    """The storage could not be reached, or refused the request."""

    condition = "KEYFOLD_STORAGE"


class NotACheckpointError(KeyfoldError):
    """A path is not the checkpoint of a streaming query."""

    condition = "KEYFOLD_NOT_A_CHECKPOINT"


class OtherProviderError(KeyfoldError):
    """A checkpoint was written with another state store provider."""

    condition = "KEYFOLD_OTHER_PROVIDER"


class CheckpointDamagedError(KeyfoldError):
    """A file that Spark itself keeps in the checkpoint cannot be parsed."""

    condition = "KEYFOLD_CHECKPOINT_DAMAGED"


class TableDamagedError(KeyfoldError):
    """A file of the log of a Delta or Iceberg table cannot be parsed."""

    condition = "KEYFOLD_TABLE_DAMAGED"


class InvalidArgumentError(KeyfoldError):
    """An argument has an invalid value."""

    condition = "KEYFOLD_INVALID_ARGUMENT"


class JarMissingError(KeyfoldError):
    """The package does not contain its jar."""

    condition = "KEYFOLD_JAR_MISSING"


class JarNotLoadedError(KeyfoldError):
    """Spark runs, or will start, without Keyfold's jar on its class path."""

    condition = "KEYFOLD_JAR_NOT_LOADED"


class SparkVersionError(KeyfoldError):
    """PySpark is not installed, or the jar is made for another version of it."""

    condition = "KEYFOLD_SPARK_VERSION"


class JvmError(KeyfoldError):
    """Keyfold's Scala code refused or failed.

    `condition` is the condition of that error, such as KEYFOLD_RESCALE_RUNNING.
    """

    condition = "KEYFOLD_JVM"

    def __init__(self, message: str, condition: str = condition) -> None:
        """Keeps the condition of this very error."""
        super().__init__(message)
        self.condition = condition  # type: ignore[misc]


class ClassicSessionError(KeyfoldError):
    """The operation needs a JVM in this process, and Spark Connect has none."""

    condition = "KEYFOLD_CLASSIC_SESSION"


class ExtraMissingError(KeyfoldError):
    """An optional package is not installed."""

    condition = "KEYFOLD_EXTRA_MISSING"


class BatchNotRetainedError(KeyfoldError):
    """A batch is not committed yet, or so old that its state was deleted."""

    condition = "KEYFOLD_BATCH_NOT_RETAINED"


class UnknownNameError(KeyfoldError):
    """There is no operator, store, state variable or column with that name."""

    condition = "KEYFOLD_UNKNOWN_NAME"


class StateOutsideCallError(KeyfoldError):
    """A state of an operator's subtask was used outside the calls of that subtask."""

    condition = "KEYFOLD_OPERATOR_STATE_OUTSIDE"


class OperatorStateUndeclaredError(KeyfoldError):
    """A subtask asks for a state that its operator's `open` did not take for subtask 0."""

    condition = "KEYFOLD_OPERATOR_STATE_UNDECLARED"


class OperatorStateValueError(KeyfoldError):
    """A row or a value does not fit the schema of an operator's state."""

    condition = "KEYFOLD_OPERATOR_STATE_VALUE"


class OperatorOutputError(KeyfoldError):
    """What an operator's function gave as its output does not fit."""

    condition = "KEYFOLD_OPERATOR_OUTPUT"


class OperatorStateChangedError(KeyfoldError):
    """An operator asks for other states than its checkpoint has."""

    condition = "KEYFOLD_OPERATOR_STATE_CHANGED"


class OperatorParallelismError(KeyfoldError):
    """An operator was started with another parallelism than its checkpoint has."""

    condition = "KEYFOLD_OPERATOR_PARALLELISM"


class OperatorNameError(KeyfoldError):
    """Two operators of one query have the same name."""

    condition = "KEYFOLD_OPERATOR_NAME"
