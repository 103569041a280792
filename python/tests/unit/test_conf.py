"""The files in conf/ and the settings of configure() are one truth."""

from __future__ import annotations

from pathlib import Path

from keyfold.settings import EXTENSIONS_CLASS, EXTENSIONS_KEY, QUERY_SETTINGS, SPARK_LINES, jar_name

CONF = Path(__file__).parents[3] / "conf"
DEFAULTS = CONF / "keyfold-defaults.conf"


def test_defaults_file_sets_what_configure_sets() -> None:
    lines = [line.strip() for line in DEFAULTS.read_text(encoding="utf-8").splitlines()]
    pairs = [tuple(line.split(maxsplit=1)) for line in lines if line and line[0] != "#"]
    assert pairs == [*QUERY_SETTINGS.items(), (EXTENSIONS_KEY, EXTENSIONS_CLASS)]


def test_defaults_file_names_the_jar() -> None:
    assert f"/{jar_name(SPARK_LINES[-1])}\n" in DEFAULTS.read_text(encoding="utf-8")


def test_readme_tells_of_every_file() -> None:
    readme = (CONF / "README.md").read_text(encoding="utf-8")
    for file in CONF.glob("*.conf"):
        assert f"`{file.name}`" in readme
