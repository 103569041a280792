"""Checks whether a session is set up to run queries on Keyfold."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from keyfold import settings
from keyfold.errors import InvalidArgumentError
from keyfold.session import bridge
from keyfold.setup import facts
from keyfold.setup.facts import DriverFacts, ExecutorFacts, Jar
from keyfold.setup.report import SetupFinding, SetupReport
from keyfold.setup.resources import local_disk, memory
from keyfold.text.units import plural

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAMES = {
    settings.PROVIDER_KEY: "provider",
    settings.FORMAT_KEY: "checkpoint format",
    settings.FILE_MANAGER_KEY: "file manager",
}

_NUMBER, _GROUP = "PYSPARK_REMOTE_INIT_CONF_LEN", "PYSPARK_REMOTE_INIT_CONF_"
# Set by PySpark if it has started the server of Spark Connect in this process.
_OWN_SERVER = "SPARK_LOCAL_REMOTE"


def check(spark: SparkSession) -> SetupReport:
    """Checks whether Keyfold is set up rightly for the queries that start in a session.

    It looks at the session's settings, at the jar on the driver and on every executor, at each
    executor's memory and at its local folders, and says what to change. What is wrong is a finding,
    no error. It runs a few short tasks, so that a busy cluster may take some seconds, and changes
    nothing. Works in classic sessions and through Spark Connect, where it looks at the server.

    Args:
        spark: the session. Settings count as they are in it now; queries that run already have
            those with which they were started.

    Raises:
        InvalidArgumentError: `spark` is no session.
        SparkVersionError: PySpark is not installed.
    """
    jvm = bridge()
    if not jvm.is_session(spark):
        raise InvalidArgumentError(f"Invalid session {type(spark).__name__}: pass a SparkSession.")
    findings: list[SetupFinding] = []
    answered: tuple[ExecutorFacts, ...] = ()
    lost: SetupFinding | None = None

    def setting(key: str) -> str | None:
        return spark.conf.get(key, None)

    try:
        findings += _settings(spark)
        # They may be why the driver does not answer.
        lost = lost_settings(setting, os.environ, has_jar=False)
        jar = facts.jar_of_driver(spark)
        version = spark.version
        line = ".".join(version.split(".")[:2])
        known = facts.driver(spark) if jar is not None and jar.line == line else None
        findings.append(_jar_of_driver(version, line, jar, answers=known is not None))
        if jar is not None and known is not None:
            lost = lost_settings(setting, os.environ, has_jar=True)
            findings += _driver(known)
            answered, silent = facts.executors(spark, known.executors)
            findings += _executors(spark, jar, answered, silent)
    except jvm.SPARK_ERRORS as error:
        said = str(error).partition("\n")[0]
        findings.append(
            SetupFinding(
                "access",
                f"Spark does not run the check's queries: {said}",
                "Allow Spark SQL's reflect and try_reflect in this session, which the check needs "
                "to ask driver and executors; if it is none of that, see Spark's own log.",
            )
        )
    return SetupReport((*([] if lost is None else [lost]), *findings), answered)


def _settings(spark: SparkSession) -> Iterator[SetupFinding]:
    for key, wanted in settings.QUERY_SETTINGS.items():
        found = spark.conf.get(key, None)
        remedy = None
        if found != wanted:
            remedy = (
                f"Set {key}={wanted} in this session or where Spark is started; "
                "keyfold.configure does."
            )
        yield SetupFinding(_NAMES[key], found or "Spark's own: it is not set", remedy)


def _jar_of_driver(version: str, line: str, jar: Jar | None, *, answers: bool) -> SetupFinding:
    name = "jar on the driver"
    remedy = (
        f"Start Spark {version} with {settings.jar_name(line)} (spark-submit --jars, or "
        f'spark.jars), which keyfold.jar_path("{line}") finds. Then check again: without it, '
        "nothing below this line could be asked."
    )
    if jar is None:
        return SetupFinding(name, "none", remedy)
    if answers:
        return SetupFinding(name, _said(jar))
    other = ", of another build than this package" if jar.line == line else ""
    return SetupFinding(name, _said(jar) + other, remedy)


def _driver(known: DriverFacts) -> Iterator[SetupFinding]:
    key, extension = settings.EXTENSIONS_KEY, settings.EXTENSIONS_CLASS
    remedy = f"Set {key}={extension} where Spark is started: a session that runs does not take it."
    if known.extension:
        yield SetupFinding("extension", extension)
    else:
        yield SetupFinding("extension", "none of Keyfold's", remedy)
    yield SetupFinding(
        "settings",
        known.settings or "all of Keyfold's are valid",
        None
        if known.settings is None
        else "Correct the setting, or remove it: queries would fail.",
    )


def _executors(
    spark: SparkSession, jar: Jar, answered: Sequence[ExecutorFacts], silent: Sequence[str]
) -> Iterator[SetupFinding]:
    # One with the driver's jar that says nothing of itself must not count as one that is right.
    failed = [it.id for it in answered if it.jar == jar and it.memory is None]
    yield _presence(len(answered) - len(failed), [*silent, *failed], facts.instances(spark))
    if answered:
        yield _jars(jar, answered)
    if any(it.memory is not None for it in answered):
        yield memory(answered)
        yield local_disk(answered)


def _presence(answered: int, silent: Sequence[str], asked_for: int | None) -> SetupFinding:
    name = "executors"
    value = f"{answered} of {plural(answered + len(silent), 'executor')} answered"
    if silent:
        return SetupFinding(
            name,
            f"{value}, not {', '.join(silent)}",
            "Check again when they are not busy, or have gone; else see their logs.",
        )
    if answered < (asked_for or 1):
        return SetupFinding(
            name,
            value if asked_for is None else f"{value}; the session asks for {asked_for}",
            "Look at the cluster manager: it has not given the executors that the session asks "
            "for. Lower spark.executor.memory, spark.executor.cores or "
            f"{settings.INSTANCES_KEY}, or free resources.",
        )
    return SetupFinding(name, value)


def _jars(jar: Jar, answered: Sequence[ExecutorFacts]) -> SetupFinding:
    name = "jar on executors"
    wrong = [it for it in answered if it.jar != jar]
    if not wrong:
        return SetupFinding(name, _said(jar))
    value = "; ".join(
        f"executor {it.id} on {it.host}: {'none' if it.jar is None else _said(it.jar)}"
        for it in wrong
    )
    return SetupFinding(
        name,
        value,
        f"Give executors the driver's jar, {_said(jar)}: name it in spark.jars (spark-submit "
        "--jars), and no other in spark.executor.extraClassPath or beside Spark's own jars.",
    )


def _said(jar: Jar) -> str:
    return f"Keyfold {jar.version} for Spark {jar.line}"


def lost_settings(
    setting: Callable[[str], str | None], environment: Mapping[str, str], *, has_jar: bool
) -> SetupFinding | None:
    """Names settings of SQL, and the jars, that were given and are not set; None if all are.

    Of a server that was started by itself, only those that Keyfold needs there: the others, and the
    jars, may well be the client's alone.

    `spark-pipelines`, and `spark-submit` in the mode of Connect, hand what they were given to
    Python in groups of ten settings, in no order. PySpark 4.0 to 4.3 reads all groups and keeps the
    last.

    Args:
        setting: gives the value that is set in the session, or None.
        environment: the variables of this process.
        has_jar: whether the driver has the right jar, wherever from.
    """
    lost = [
        it
        for it in _given(environment)
        if setting(it) is None and not (has_jar and it == settings.JARS_KEY)
    ]
    if not lost:
        return None
    return SetupFinding(
        "lost settings",
        ", ".join(sorted(lost)),
        "spark-pipelines was given these, and Spark's Connect client kept only some. Write them to "
        "spark-defaults.conf in the folder that SPARK_CONF_DIR names, or start a Connect server "
        "with them and give it as --remote.",
    )


def _given(environment: Mapping[str, str]) -> Iterator[str]:
    if _OWN_SERVER in environment:
        keys, prefix = {settings.JARS_KEY}, "spark.sql."
    else:
        keys, prefix = {*settings.QUERY_SETTINGS, settings.EXTENSIONS_KEY}, settings.PREFIX
    for number in range(int(environment.get(_NUMBER, "0"))):
        for key in json.loads(environment[f"{_GROUP}{number}"]):
            if key in keys or key.startswith(prefix):
                yield key
