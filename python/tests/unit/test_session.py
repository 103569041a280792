"""configure() against real builders; what the JVM would answer is given."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

import keyfold
from keyfold import _jvm
from keyfold.errors import (
    InvalidArgumentError,
    JarMissingError,
    JarNotLoadedError,
    SparkVersionError,
)
from keyfold.settings import (
    EXTENSIONS_CLASS,
    EXTENSIONS_KEY,
    PLUGIN_CLASS,
    PLUGINS_KEY,
    PROMETHEUS_SETTINGS,
    PROVIDER_KEY,
    QUERY_SETTINGS,
    SPARK_LINES,
    jar_name,
)

LINE = "4.2"
JAR = f"/opt/{jar_name(LINE)}"
SETTINGS = {**QUERY_SETTINGS, EXTENSIONS_KEY: EXTENSIONS_CLASS}


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No JVM, a jar at JAR, and an environment that says nothing."""
    monkeypatch.setattr(_jvm, "has_jvm", lambda: False)
    monkeypatch.setattr("keyfold.session.jar_path", lambda _="": Path(JAR))
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))


def runs(monkeypatch: pytest.MonkeyPatch, version: str, made_for: str | None) -> None:
    """A JVM of this Spark runs already, with the jar for a line or none."""
    monkeypatch.setattr(_jvm, "has_jvm", lambda: True)
    monkeypatch.setattr(_jvm, "running_version", lambda: version)
    monkeypatch.setattr(_jvm, "line_of_jar", lambda: made_for)


def options(builder: Any) -> dict[str, str]:
    return dict(builder._options)


def test_builder_is_returned_with_provider_and_jar() -> None:
    builder = SparkSession.builder
    assert keyfold.configure(builder) is builder
    assert options(builder) == {**SETTINGS, "spark.jars": JAR}


def test_jar_joins_those_of_the_builder_once() -> None:
    builder = SparkSession.builder.config("spark.jars", "/a.jar,/b.jar")
    keyfold.configure(keyfold.configure(builder))
    assert options(builder)["spark.jars"] == f"/a.jar,/b.jar,{JAR}"


@pytest.mark.parametrize(
    "line", ["spark.jars  /d.jar", "  spark.jars=/d.jar ", "spark.jars: /d.jar"]
)
def test_jar_joins_those_of_the_installation(tmp_path: Path, line: str) -> None:
    defaults = f"# spark.jars /no.jar\nspark.jars.packages x:y:1\n{line}\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults, encoding="utf-8")
    assert options(keyfold.configure(SparkSession.builder))["spark.jars"] == f"/d.jar,{JAR}"


def test_jars_of_submit_arguments_would_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars /a.jar pyspark-shell")
    with pytest.raises(JarNotLoadedError, match=r"--jars /a.jar"):
        keyfold.configure(SparkSession.builder)


@pytest.mark.parametrize("form", ["--jars /a.jar,{}", "--jars={}"])
def test_jar_in_submit_arguments_is_enough(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", form.format(JAR) + " pyspark-shell")
    assert options(keyfold.configure(SparkSession.builder)) == SETTINGS


@pytest.mark.parametrize("name", [jar_name("4.0"), "keyfold-spark_4.0_2.13-0.1.0.jar"])
def test_jar_of_another_line_is_not_put_beside_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    said = rf"names /d/{re.escape(name)}, .* Spark 4\.0, .* line 4\.2\. Name {JAR} instead"
    builder = SparkSession.builder.config("spark.jars", f"/a.jar, /d/{name}")
    with pytest.raises(SparkVersionError, match=f"^.KEYFOLD_SPARK_VERSION. spark.jars {said}"):
        keyfold.configure(builder)
    (tmp_path / "spark-defaults.conf").write_text(f"spark.jars /d/{name}\n", encoding="utf-8")
    with pytest.raises(SparkVersionError, match=f"spark.jars {said}"):
        keyfold.configure(SparkSession.builder)
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--jars {JAR},/d/{name} pyspark-shell")
    with pytest.raises(SparkVersionError, match=f"--jars in PYSPARK_SUBMIT_ARGS {said}"):
        keyfold.configure(SparkSession.builder)


@pytest.mark.parametrize("name", [jar_name(LINE), f"keyfold-spark_{LINE}_2.13-0.1.0.jar"])
def test_jar_of_this_line_is_enough_wherever_it_is(name: str) -> None:
    named = f"/a.jar,hdfs://node/d/{name}"
    builder = keyfold.configure(SparkSession.builder.config("spark.jars", named))
    assert options(builder)["spark.jars"] == named


def test_running_jvm_with_the_jar_needs_no_jar(monkeypatch: pytest.MonkeyPatch) -> None:
    runs(monkeypatch, "4.2.0", made_for="4.2")
    monkeypatch.setattr(_jvm, "_conf_of_jvm", {EXTENSIONS_KEY: "com.acme.Ours"}.__getitem__)
    extensions = {EXTENSIONS_KEY: f"com.acme.Ours,{EXTENSIONS_CLASS}"}
    assert options(keyfold.configure(SparkSession.builder)) == {**SETTINGS, **extensions}


def test_extension_joins_those_of_builder_or_installation(tmp_path: Path) -> None:
    builder = SparkSession.builder.config(EXTENSIONS_KEY, "com.acme.Ours")
    keyfold.configure(keyfold.configure(builder))
    assert options(builder)[EXTENSIONS_KEY] == f"com.acme.Ours,{EXTENSIONS_CLASS}"
    defaults = f"{EXTENSIONS_KEY} com.acme.Theirs\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults, encoding="utf-8")
    builder = keyfold.configure(SparkSession.builder)
    assert options(builder)[EXTENSIONS_KEY] == f"com.acme.Theirs,{EXTENSIONS_CLASS}"


@pytest.mark.parametrize("extensions", [None, "com.acme.Ours", f"a.B,{EXTENSIONS_CLASS}"])
def test_spark_that_runs_without_the_extension_gets_a_word(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, extensions: str | None
) -> None:
    conf = {EXTENSIONS_KEY: extensions}
    context = SimpleNamespace(getConf=lambda: conf)
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", context)
    runs(monkeypatch, "4.2.0", made_for="4.2")
    monkeypatch.setattr(_jvm, "_conf_of_jvm", lambda _: "")
    with caplog.at_level(logging.WARNING, "keyfold"):
        keyfold.configure(SparkSession.builder)
    expected = extensions is None or EXTENSIONS_CLASS not in extensions
    assert (f"{EXTENSIONS_KEY}={EXTENSIONS_CLASS}" in caplog.text) == expected


def test_metrics_are_published_if_asked_for() -> None:
    builder = keyfold.configure(
        SparkSession.builder.config(PLUGINS_KEY, "com.acme.Ours"), metrics=True
    )
    plugins = {PLUGINS_KEY: f"com.acme.Ours,{PLUGIN_CLASS}"}
    assert options(builder) == {**SETTINGS, **PROMETHEUS_SETTINGS, **plugins, "spark.jars": JAR}


@pytest.mark.parametrize("plugins", [None, "com.acme.Ours", f"a.B,{PLUGIN_CLASS}"])
def test_spark_that_runs_without_metrics_gets_a_word(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, plugins: str | None
) -> None:
    conf = {PLUGINS_KEY: plugins, EXTENSIONS_KEY: EXTENSIONS_CLASS}
    context = SimpleNamespace(getConf=lambda: conf)
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", context)
    runs(monkeypatch, "4.2.0", made_for="4.2")
    monkeypatch.setattr(_jvm, "_conf_of_jvm", lambda _: "")
    with caplog.at_level(logging.WARNING, "keyfold"):
        keyfold.configure(SparkSession.builder, metrics=True)
    expected = plugins is None or PLUGIN_CLASS not in plugins
    assert (f"without {PLUGINS_KEY}={PLUGIN_CLASS}" in caplog.text) == expected


def test_running_jvm_without_the_jar_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    runs(monkeypatch, "4.2.0", made_for=None)
    builder = SparkSession.builder
    with pytest.raises(JarNotLoadedError) as caught:
        keyfold.configure(builder)
    for said in ("keyfold.configure(SparkSession.builder)", "spark.jars", JAR, "spark-submit"):
        assert said in str(caught.value)
    assert options(builder) == {}


def test_builder_of_a_connect_server_gets_the_provider_and_a_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "keyfold"):
        builder = keyfold.configure(SparkSession.builder.config("spark.remote", "sc://host"))
    assert options(builder) == {**QUERY_SETTINGS, "spark.remote": "sc://host"}
    assert "the jar for its line of Spark" in caplog.text


def test_local_connect_server_gets_the_jar() -> None:
    builder = keyfold.configure(SparkSession.builder.config("spark.remote", "local[2]"))
    assert options(builder)["spark.jars"] == JAR


def test_connect_session_gets_the_provider_and_a_word(caplog: pytest.LogCaptureFixture) -> None:
    conf: dict[str, str] = {}
    made = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    session = made()
    session.version = "4.0.1"
    session.conf = SimpleNamespace(set=conf.__setitem__)
    with caplog.at_level(logging.WARNING, "keyfold"):
        assert keyfold.configure(session) is session
    assert conf == dict(QUERY_SETTINGS)
    assert jar_name("4.0") in caplog.text


def test_connect_server_of_another_spark_is_refused_and_both_are_named() -> None:
    made = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    session = made()
    session.version = "3.5.1"
    with pytest.raises(SparkVersionError) as caught:
        keyfold.configure(session)
    assert f"3.5.1 on the server (PySpark here is {pyspark.__version__})" in str(caught.value)


@pytest.mark.parametrize("found", ["4.4.0", "4.20.0", "3.5.1", "5.0.0.dev0"])
def test_spark_without_a_jar_is_refused(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(_jvm, "has_jvm", lambda: False)
    monkeypatch.setattr(_jvm, "spark_version", lambda: found)
    with pytest.raises(SparkVersionError, match=f"not for {found}") as caught:
        keyfold.configure(SparkSession.builder)
    assert "pyspark>=4.0,<4.4" in str(caught.value)


def test_running_spark_with_the_jar_of_another_line_is_told_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs(monkeypatch, "4.2.1", made_for="4.3")
    with pytest.raises(SparkVersionError, match=r"Spark is 4\.2\.1 .* for Spark 4\.3\. .*/opt/"):
        keyfold.configure(SparkSession.builder)


@pytest.mark.parametrize(
    ("jar", "version"),
    [
        ("spark-core_2.13-4.1.3.jar", "4.1.3"),
        ("spark-core_2.13-4.4.0-preview1.jar", "4.4.0-preview1"),
        ("spark-core_2.12-3.5.8.jar", "3.5.8"),
    ],
)
def test_spark_is_the_one_of_spark_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, jar: str, version: str
) -> None:
    assert _jvm.spark_version() == pyspark.__version__
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / jar).touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert _jvm.spark_version() == version


@pytest.mark.parametrize("target", [None, "spark", SparkSession, os])
def test_other_targets_are_refused(target: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"SparkSession\.builder"):
        keyfold.configure(target)


@pytest.mark.parametrize("partitions", [0, -1, "4", 2.5, True])
def test_number_of_partitions_is_a_whole_number_above_0(partitions: Any) -> None:
    builder = SparkSession.builder
    with pytest.raises(InvalidArgumentError, match=rf"above 0, not {partitions!r}\."):
        keyfold.configure(builder, partitions=partitions)
    assert options(builder) == {}


def test_jar_of_a_line_or_a_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("keyfold.session.Path.is_file", lambda _: True)
    assert keyfold.jar_path("4.1").name == keyfold.jar_path("4.1.4").name == jar_name("4.1")


@pytest.mark.parametrize("line", ["3.5", "4.9.1", "4", "../x"])
def test_jar_of_a_line_that_there_is_none_for_is_refused(line: str) -> None:
    with pytest.raises(SparkVersionError, match=rf"4\.0 to 4\.3, not for {re.escape(line)}\. "):
        keyfold.jar_path(line)


@pytest.mark.parametrize("line", SPARK_LINES)
def test_missing_jar_says_how_to_make_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("keyfold.session.files", lambda _: tmp_path)
    monkeypatch.setattr(_jvm, "spark_version", lambda: f"{line}.7")
    with pytest.raises(JarMissingError, match="make jars"):
        keyfold.jar_path()
    jar = tmp_path / "jars" / jar_name(line)
    jar.parent.mkdir()
    jar.touch()
    assert keyfold.jar_path() == keyfold.jar_path(line) == jar


def test_settings_are_those_that_spark_reads() -> None:
    assert dict(QUERY_SETTINGS) == {
        "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
        "spark.sql.streaming.stateStore.providerClass": (
            "io.keyfold.spark.KeyfoldStateStoreProvider"
        ),
        "spark.sql.streaming.checkpointFileManagerClass": (
            "io.keyfold.spark.KeyfoldCheckpointFileManager"
        ),
    }
    assert PROVIDER_KEY in QUERY_SETTINGS
