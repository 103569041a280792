"""Connectors: where a line of Spark has none, the demo says which have; `make` takes the newest."""

import subprocess

import pytest

from demo import connect
from demo.errors import DemoError
from demo.from_kit import from_kit
from kit.connectors import DELTA, KAFKA, RELEASES
from kit.places import ROOT


@pytest.mark.parametrize(
    ("names", "version", "said"),
    [
        ([KAFKA, DELTA], "4.2.1", "For Spark 4.2 .* kafka and delta .* SPARK=4.1$"),
        ([DELTA], "4.3.0", "For Spark 4.3 .* delta yet; give SPARK=4.1 or SPARK=4.0"),
        ([KAFKA], "4.3.0", "For Spark 4.3 .* kafka yet; give SPARK=4.2 or"),
    ],
)
def test_a_line_without_connectors_is_told_with_those_that_have_them(
    names: list[str], version: str, said: str
) -> None:
    with pytest.raises(DemoError, match=said):
        connect.settings(names, version)


def test_jars_and_settings_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        connect, "connectors", lambda line, *names: f"/{line}/{names[0]}.jar:/b.jar"
    )
    assert connect.settings([KAFKA], "4.2.1") == {"spark.jars": "/4.2/kafka.jar,/b.jar"}
    with_delta = connect.settings([KAFKA, DELTA], "4.1.4")
    assert with_delta["spark.jars"] == "/4.1/kafka.jar,/b.jar"
    assert with_delta["spark.sql.extensions"] == "io.delta.sql.DeltaSparkSessionExtension"


def test_without_maven_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: str) -> str:
        raise FileNotFoundError("mvn")

    monkeypatch.setattr(connect, "connectors", absent)
    with pytest.raises(DemoError, match="Maven cannot download the connectors: mvn"):
        connect.settings([KAFKA], "4.2.1")


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        (["SINK=delta"], list(RELEASES[DELTA])[-1]),
        (["SOURCE=kafka"], list(RELEASES[KAFKA])[-1]),
        (["SOURCE=kafka", "SINK=delta"], list(RELEASES[DELTA])[-1]),
        (["SOURCE=kafka", "SINK=delta", "SPARK=4.0"], "4.0"),
        ([], "4.3"),
    ],
)
def test_make_takes_the_newest_line_that_has_them(variables: list[str], line: str) -> None:
    command = ["make", "--dry-run", "demo", *variables]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"build/pyspark {line}." in done.stdout


def test_a_module_that_needs_the_kit_says_how_to_start_the_demo() -> None:
    with pytest.raises(DemoError, match=r"'absent'.*started by `make demo SOURCE=kafka`"):
        from_kit("absent", "SOURCE=kafka")
