"""A Spark session to work with, and calls to the JVM behind it."""

from __future__ import annotations

import json
import os
import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyfold import session as setup
from keyfold.errors import ClassicSessionError, InvalidArgumentError
from keyfold.storage.resolve import is_uri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


API = "io.keyfold.spark.admin.AdminApi"


def answer(
    method: str,
    path: str | os.PathLike[str],
    *arguments: object,
    command: str,
    spark: SparkSession | None,
) -> dict[str, Any]:
    """Calls a method of the JVM's `AdminApi` and returns its result.

    Args:
        method: takes a session, the checkpoint, then `arguments`.
        path: the checkpoint.
        arguments: strings, numbers, None.
        command: the command line for the same operation.
        spark: the session to use; None: the active one, or else a new one that is stopped
        afterwards.

    Raises:
        InvalidArgumentError: the path is empty.
        ClassicSessionError: the session is a Spark Connect session.
        JvmError: the operation failed or was refused.
    """
    checkpoint = place(path)
    with session(command, spark) as it:
        answered = setup.bridge().call(it, API, method, checkpoint, *arguments)
    found: dict[str, Any] = json.loads(answered)
    return found


@contextmanager
def session(command: str, given: SparkSession | None) -> Iterator[SparkSession]:
    """A session for calls of `answer`: the one that is given, the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
    """
    jvm = setup.bridge()
    session = given or jvm.active_session()
    if jvm.is_connect_session(session) or not jvm.can_start_jvm():
        raise ClassicSessionError(
            "Changing a checkpoint needs a JVM in this process, which Spark Connect does not have. "
            "Use the command line where the checkpoint can be reached and all of PySpark is "
            f"installed: {command}"
        )
    if session is not None:
        setup.check_loaded(jvm)
        yield session
        return
    with jvm.without_server():
        session = jvm.new_session(setup.configure(jvm.new_builder(command)))
        try:
            yield session
        finally:
            session.stop()


def command_line(verb: str, *arguments: object, **options: object) -> str:
    """The command line for the same operation.

    Args:
        verb: the command.
        arguments: without a name.
        options: by name; those that are None or False are left out, and True has no value.
    """
    words = ["keyfold", verb, *map(str, arguments)]
    for name, value in options.items():
        if value is not None and value is not False:
            words.append("--" + name.replace("_", "-"))
            words += [] if value is True else [str(value)]
    return shlex.join(words)


def place(path: str | os.PathLike[str], what: str = "path") -> str:
    """A path for the JVM, which may have another working directory than Python.

    Raises:
        InvalidArgumentError: the path is empty; the message says of `what`.
    """
    text = os.fspath(path)
    if not text:
        raise InvalidArgumentError(f"Invalid {what}: it is empty.")
    return text if is_uri(text) else str(Path(text).absolute())
