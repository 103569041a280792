"""A Spark session to work with, calls to the JVM behind it, and their results."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from keyfold import session as setup
from keyfold.errors import ClassicSessionError, InvalidArgumentError
from keyfold.storage.resolve import is_uri
from keyfold.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

API = "io.keyfold.spark.admin.AdminApi"

T = TypeVar("T")

_LABEL = 13
_WORD_ENDS = re.compile(r"(?<=[a-z])(?=[A-Z])")
# A word of Python's cannot be the name of a field.
_NAMES = {"from": "before", "to": "after"}


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


def result(kind: type[T], answer: Mapping[str, Any], **other: object) -> T:
    """A dataclass of the fields that the JVM's answer has under the same names.

    Args:
        kind: the dataclass.
        answer: names have the spelling of Scala; a list becomes a tuple, of dataclasses if these
            are its type; a refusal its reason.
        other: fields that the answer has in another form.
    """
    its = {
        _NAMES.get(name) or _WORD_ENDS.sub("_", name).lower(): it for name, it in answer.items()
    } | other
    hints = get_type_hints(kind).items()
    return kind(**{name: _plain(its[name], hint) for name, hint in hints if name in its})


def _plain(value: Any, hint: Any) -> Any:  # noqa: ANN401 - JSON, and any type
    if not isinstance(value, list):
        return value
    item = get_args(hint)[0]
    if isinstance(item, type) and is_dataclass(item):
        return tuple(result(item, it) for it in value)
    return tuple(it["reason"] if isinstance(it, dict) else it for it in value)


def lines(
    rows: Iterable[tuple[str, str]],
    *,
    applied: bool,
    refusals: Iterable[str] = (),
    to_apply: str = "pass --apply",
) -> str:
    """A line for each label and text, and for each refusal; a plan says that nothing was done."""
    every = [*rows, *(("refused", it) for it in refusals)]
    if not applied and not refusals:
        every.append(("not done", f"this is a plan; {to_apply}, or dry_run=False"))
    return printable("\n".join(f"{label:<{_LABEL}}{text}" for label, text in every))
