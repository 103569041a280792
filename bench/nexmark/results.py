"""Results that there are, a line of JSON for each: a run that was interrupted goes on."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.nexmark.cases import Case, Size
from bench.nexmark.stores import ROOT
from bench.revision import code, is_changed

FILE: Final = ROOT / "bench-out" / "nexmark.jsonl"


class Results:
    """Those of the present code, in a file; with local changes there are none before this run."""

    def __init__(self, file: Path = FILE) -> None:
        """Read what there is."""
        self._file = file
        self._code = code()
        is_there = file.exists() and not is_changed()
        lines = file.read_text(encoding="utf-8").splitlines() if is_there else []
        every = [json.loads(it) for it in lines]
        self._found = {_case(it["case"]): it["found"] for it in every if it["code"] == self._code}

    def of(self, case: Case) -> dict[str, Any] | None:
        """The figures of a case; None if it has not run, or has failed."""
        found = self._found.get(case)
        return None if found is None or "error" in found else found

    def has_failed(self, case: Case) -> bool:
        """Whether its query has ended with an error."""
        return "error" in self._found.get(case, {})

    def add(self, case: Case, found: dict[str, Any]) -> None:
        """Keep the figures of a case."""
        self._found[case] = found
        self._file.parent.mkdir(exist_ok=True)
        line = json.dumps({"code": self._code, "case": asdict(case), "found": found})
        with self._file.open("a", encoding="utf-8") as out:
            out.write(f"{line}\n")

    def cases(self) -> list[Case]:
        """Those that have a result, in the order in which they ran."""
        return list(self._found)


def _case(fields: dict[str, Any]) -> Case:
    return Case(**{**fields, "size": Size(**fields["size"])})
