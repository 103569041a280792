"""What `import keyfold` does, and does not, in a fresh process."""

from __future__ import annotations

import subprocess
import sys

WITHOUT_PYSPARK = """
import sys
sys.modules["pyspark"] = None
import keyfold
try:
    keyfold.configure(object())
except keyfold.KeyfoldError as error:
    print(error)
"""


def run(code: str) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_import_loads_nothing_of_spark() -> None:
    loaded = run("import keyfold, sys; print(*sys.modules)").split()
    assert "keyfold.session" in loaded
    assert [name for name in loaded if name.split(".")[0] in {"pyspark", "py4j", "pandas"}] == []


def test_without_pyspark_only_configure_fails() -> None:
    told = run(WITHOUT_PYSPARK)
    assert told.startswith("[KEYFOLD_SPARK_VERSION]")
    assert "pip install 'keyfold[spark]'" in told
