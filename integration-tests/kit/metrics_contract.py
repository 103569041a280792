"""The names of metrics that docs/metrics.md promises."""

from __future__ import annotations

import re

from kit.places import ROOT

PAGE = ROOT / "docs" / "metrics.md"
_ROW = re.compile(r"^\| `(keyfold_[a-z0-9_]+)` \|", re.MULTILINE)
_LABELS = {
    "keyfold_executor_": {"application", "executor"},
    "keyfold_query_": {"application", "query"},
    "keyfold_operator_": {"application", "query", "operator"},
}


def contract() -> dict[str, set[str]]:
    """Each name, with its labels."""
    found = _ROW.findall(PAGE.read_text(encoding="utf-8"))
    of = {
        name: labels
        for name in found
        for prefix, labels in _LABELS.items()
        if name.startswith(prefix)
    }
    assert len(of) == len(found) > 0
    return of | {
        "keyfold_queries": {"application"},
        "keyfold_partition_rows": {"application", "query", "operator", "partition"},
    }
