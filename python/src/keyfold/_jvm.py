"""Access to PySpark's internals and to the JVM behind it."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import pyspark
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.utils import is_remote
from pyspark.util import is_remote_only

from keyfold.errors import InvalidArgumentError, JvmError

try:
    from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
except ImportError:
    # The package pyspark-client has Spark Connect alone, which raises PySpark's own errors.
    Py4JError = Py4JJavaError = PySparkException

_CONNECT = "pyspark.sql.connect."
# By these PySpark goes to a server of Spark Connect instead of starting a JVM.
_TO_SERVER = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_API_MODE")

# What a query of a session fails with, classic or Connect.
SPARK_ERRORS = (PySparkException, Py4JError)


def pyspark_version() -> str:
    """Version of the installed PySpark."""
    return pyspark.__version__


def spark_version() -> str:
    """Version of the Spark that PySpark starts here, which may be another one's: SPARK_HOME's."""
    if not can_start_jvm():
        return pyspark_version()
    # An older Spark may be of another Scala, and is to be told so by its version.
    jars = (Path(_find_spark_home()) / "jars").glob("spark-core_*-*.jar")
    found = [it.stem.split("-", 2)[2] for it in jars]
    return found[0] if len(found) == 1 else pyspark_version()


def is_builder(target: object) -> bool:
    """Whether `target` is a session builder, classic or Connect."""
    return isinstance(target, SparkSession.Builder) or _is_connect(target, "Builder")


def is_session(target: object) -> bool:
    """Whether `target` is a session, classic or Connect."""
    return isinstance(target, SparkSession) or _is_connect(target, "SparkSession")


def is_connect_session(target: object) -> bool:
    """Whether `target` is a session of Spark Connect."""
    return _is_connect(target, "SparkSession")


def connects_to_server(builder: Any) -> bool:  # noqa: ANN401
    """Whether the session will be one of a running Spark Connect server."""
    options = builder._options  # noqa: SLF001 - a builder has no public way to read them
    url = str(options.get("spark.remote", os.environ.get("SPARK_REMOTE", "")))
    return (bool(url) or is_remote() or _is_connect(builder, "Builder")) and not url.startswith(
        "local"
    )


def has_column(df: Any, name: str) -> bool:  # noqa: ANN401
    """Whether any step of a DataFrame's plan, classic or Connect, has a column of that name."""
    if is_connect_session(df.sparkSession):
        plan = df._explain_string("extended")  # noqa: SLF001 - no public way
    else:
        plan = df._jdf.queryExecution().analyzed().toString()  # noqa: SLF001
    return re.search(rf"\b{name}#\d+", plan) is not None


def can_start_jvm() -> bool:
    """Whether PySpark is here as a whole, and not its client for Spark Connect alone."""
    return not is_remote_only()


def has_jvm() -> bool:
    """Whether this process has a JVM already, whose class path cannot change any more."""
    if not can_start_jvm():
        return False
    from pyspark import SparkContext  # noqa: PLC0415 - not there in Connect-only installations

    return SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ  # noqa: SLF001


def running_version() -> str:
    """Version of the Spark that runs in the JVM of this process."""
    return str(_running_jvm().org.apache.spark.package.SPARK_VERSION())


def line_of_jar() -> str | None:
    """The line of Spark that the jar in the running JVM is made for; None without a jar."""
    jvm = _running_jvm()
    try:
        # Found the way Spark finds state store providers.
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        loader.loadClass("io.keyfold.spark.conf.BuildInfo")
    except Py4JJavaError:
        return None
    return str(jvm.io.keyfold.spark.conf.BuildInfo.line())


def _running_jvm() -> Any:  # noqa: ANN401
    from pyspark import SparkContext  # noqa: PLC0415

    # Under spark-submit the JVM runs before this process has connected to it.
    SparkContext._ensure_initialized()  # noqa: SLF001
    jvm = SparkContext._jvm  # noqa: SLF001
    assert jvm is not None  # noqa: S101 - initialized above
    return jvm


def items(builder: Any, key: str) -> list[str]:  # noqa: ANN401
    """What a list has: the builder's, or else the one that Spark starts with."""
    options = builder._options  # noqa: SLF001
    named = options.get(key) or (_conf_of_jvm(key) if has_jvm() else _default(key))
    return split(str(named))


def append(builder: Any, key: str, item: str) -> None:  # noqa: ANN401
    """Appends an item to a list."""
    named = items(builder, key)
    if item not in named:
        builder.config(key, ",".join([*named, item]))


def runs_without(key: str, item: str) -> bool:
    """Whether Spark is already running and its list lacks an item."""
    from pyspark import SparkContext  # noqa: PLC0415

    context = SparkContext._active_spark_context  # noqa: SLF001
    return context is not None and item not in (context.getConf().get(key) or "").split(",")


def split(named: str) -> list[str]:
    """The items of a list as Spark's settings have it."""
    return [it.strip() for it in named.split(",") if it.strip()]


def submit_jars() -> list[str] | None:
    """Jars named by --jars in PYSPARK_SUBMIT_ARGS, which Spark prefers to the setting."""
    words = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    for index, word in enumerate(words):
        if word == "--jars" and index + 1 < len(words):
            return split(words[index + 1])
        if word.startswith("--jars="):
            return split(word.removeprefix("--jars="))
    return None


def _conf_of_jvm(key: str) -> str:
    """The setting that was given to spark-submit or to the running context."""
    from pyspark import SparkConf  # noqa: PLC0415

    return SparkConf().get(key) or ""


def _default(key: str) -> str:
    """The setting in spark-defaults.conf, which a builder's setting would otherwise replace."""
    folder = os.environ.get("SPARK_CONF_DIR") or os.path.join(_find_spark_home(), "conf")  # noqa: PTH118
    file = Path(folder) / "spark-defaults.conf"
    if not file.is_file():
        return ""
    line = rf"(?m)^\s*{re.escape(key)}[\s=:]+(.*?)\s*$"
    found = re.findall(line, file.read_text(encoding="utf-8"))
    return str(found[-1]) if found else ""


def _is_connect(target: object, name: str) -> bool:
    # By name, as importing Spark Connect needs packages that a classic installation lacks.
    return any(
        it.__module__.startswith(_CONNECT) and it.__name__ == name for it in type(target).__mro__
    )


def active_session() -> Any:  # noqa: ANN401
    """The active session of this thread, or else of this process; None if there is none."""
    return SparkSession.getActiveSession() or (
        # Active is a matter of threads: another thread's session must not be taken for a new one.
        SparkSession._instantiatedSession if has_jvm() else _connect_session()  # noqa: SLF001
    )


def new_builder(name: str) -> SparkSession.Builder:
    """The builder of a local session that logs errors only."""
    return (
        SparkSession.builder.master("local[*]")
        .appName(name)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "true")
        .config("spark.log.level", "ERROR")
    )


@contextmanager
def without_server() -> Iterator[None]:
    """Hides from PySpark that it is to go to a server of Spark Connect."""
    hidden = {it: os.environ.pop(it) for it in _TO_SERVER if it in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)


def new_session(builder: SparkSession.Builder) -> SparkSession:
    """Starts Spark in this process; raises JvmError if Java does not start."""
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise JvmError(
            f"Spark did not start: {str(error).partition(chr(10))[0]} See what it said above. If "
            "there is no Java: Set JAVA_HOME to a JDK 17 or 21; it is "
            f"{os.environ.get('JAVA_HOME') or 'not set'}."
        ) from error
    except PySparkException as error:
        said = str(error).partition("\n")[0]
        raise JvmError(
            f"Spark did not start: {said} If it is a Spark Connect server, check that it runs at "
            "that address, and that `pip install 'pyspark[connect]'` was done here."
        ) from error
    except (Py4JError, OSError) as error:
        java = getattr(error, "java_exception", None)
        reason = error if java is None else java.toString()
        raise JvmError(
            f"Spark did not start: {reason}. Check Spark's environment: "
            "SPARK_HOME, SPARK_CONF_DIR, SPARK_LOCAL_DIRS and SPARK_LOCAL_IP."
        ) from error


# Options of spark-submit that take no value.
_FLAGS = {
    "--help", "-h", "--load-spark-defaults", "--supervise", "--usage-error", "--verbose", "-v",
    "--version",
}  # fmt: skip


def _not_an_option(words: Sequence[str]) -> str | None:
    """The first word that is neither an option of spark-submit nor the value of one."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            return word
        if word not in _FLAGS and "=" not in word:
            next(rest, None)
    return None


@contextmanager
def session_as_submitted(options: Sequence[str], remote: str | None) -> Iterator[SparkSession]:
    """A session as the options of spark-submit make it, stopped afterwards.

    Args:
        options: they start a Spark of their own, whatever server the environment names; if empty,
            those of the environment count.
        remote: the URL of a Spark Connect server whose session it is to be.

    Raises:
        InvalidArgumentError: one of the options is a program or its argument, or there are options
            and a server.
        JvmError: Spark does not start.
    """
    if (word := _not_an_option(options)) is not None:
        raise InvalidArgumentError(
            f"{word!r} is no option of spark-submit: give the options alone, without your program "
            "and its arguments. The program is not started."
        )
    if options and remote is not None:
        raise InvalidArgumentError(
            "Give options of spark-submit, which start a Spark of their own, or the server that "
            "runs already (--remote), not both."
        )
    if options:
        os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join([*options, "pyspark-shell"])
    builder = SparkSession.builder if remote is None else SparkSession.builder.remote(remote)
    with without_server() if options else nullcontext():
        session = new_session(builder)
        try:
            yield session
        finally:
            session.stop()


def frame_of(spark: SparkSession, rows: Any) -> DataFrame:  # noqa: ANN401
    """A table of Arrow as a DataFrame; a time without a zone stays one."""
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 - needs pandas

    schema = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
    return spark.createDataFrame(rows, schema=schema)


def java_frame(frame: DataFrame) -> Any:  # noqa: ANN401
    """A DataFrame of a classic session as an argument of `call`."""
    return frame._jdf  # noqa: SLF001 - there is no public way to the JVM


def pickle_by_value(modules: Iterable[ModuleType]) -> None:
    """Functions of modules are sent to workers as they are, which cannot import the modules."""
    for it in modules:
        register_pickle_by_value(it)  # type: ignore[no-untyped-call]


def call(session: Any, owner: str, method: str, *arguments: object) -> str:  # noqa: ANN401
    """Calls a method of a Scala object with the session and `arguments`; returns its result.

    Raises:
        JvmError: it failed; with the condition and message of Keyfold's error, if it is one.
    """
    target = session._jvm  # noqa: SLF001 - there is no public way to the JVM
    for part in owner.split("."):
        target = getattr(target, part)
    try:
        return str(getattr(target, method)(session._jsparkSession, *arguments))  # noqa: SLF001
    except Py4JJavaError as error:
        raise _error_of(error.java_exception) from None
    except PySparkException as error:
        # PySpark has turned it into an error of its own, such as IllegalArgumentException.
        thrown = getattr(error, "_origin", None)
        raise (JvmError(str(error)) if thrown is None else _error_of(thrown)) from None


def _error_of(thrown: Any) -> JvmError:  # noqa: ANN401
    io_error = _running_jvm().java.lang.Class.forName("java.io.IOException")
    of_storage = None
    cause = thrown
    while cause is not None:
        message = str(cause.getMessage())
        found = re.match(r"\[(KEYFOLD_\w+)\] (.*)", message, re.DOTALL)
        if found:
            return JvmError(found[2], found[1])
        if io_error.isInstance(cause):
            of_storage = cause
        cause = cause.getCause()
    if of_storage is not None:
        return JvmError(
            f"The storage failed: {of_storage.toString()}. Check the path, the credentials, the "
            "free space and the network. Then run the command again.",
            "KEYFOLD_STORAGE",
        )
    return JvmError(str(thrown.toString()))


def _connect_session() -> Any:  # noqa: ANN401
    # Code that has such a session has imported its module. Importing it here could warn or fail.
    module = sys.modules.get(f"{_CONNECT}session")
    return None if module is None else module.SparkSession.getActiveSession()
