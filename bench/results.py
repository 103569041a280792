"""Results that there are, a line of JSON for each: a run that was interrupted goes on."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from bench.revision import ENGINE, code, is_changed

FOLDER: Final = Path(__file__).parents[1] / "bench-out"
C = TypeVar("C")


class Results(Generic[C]):
    """Those of the present engine, in a file; with local changes there are none before this run.

    `read` makes a case, a dataclass, of its fields; `made_by` is the folder of the benchmark.
    """

    def __init__(self, file: Path, read: Callable[[dict[str, Any]], C], made_by: str) -> None:
        """Read what there is."""
        self._file = file
        measured = (*ENGINE, made_by)
        self._code = code(measured)
        is_there = file.exists() and not is_changed(measured)
        lines = file.read_text(encoding="utf-8").splitlines() if is_there else []
        every = [json.loads(it) for it in lines]
        self._found = {read(it["case"]): it["found"] for it in every if it["code"] == self._code}

    def of(self, case: C) -> dict[str, Any] | None:
        """The figures of a case; None if it has not run, or has failed."""
        found = self._found.get(case)
        return None if found is None or "error" in found else found

    def has_failed(self, case: C) -> bool:
        """Whether its query has ended with an error."""
        return "error" in self._found.get(case, {})

    def add(self, case: C, found: dict[str, Any]) -> None:
        """Keep the figures of a case."""
        self._found[case] = found
        self._file.parent.mkdir(exist_ok=True)
        line = json.dumps({"code": self._code, "case": asdict(case), "found": found})  # type: ignore[call-overload]
        with self._file.open("a", encoding="utf-8") as out:
            out.write(f"{line}\n")

    def cases(self) -> list[C]:
        """Those that have a result, in the order in which they ran."""
        return list(self._found)
