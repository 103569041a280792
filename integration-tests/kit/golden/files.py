"""The golden files that are committed: `valid/`, `broken/` and `expected.json`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from kit.golden.broken import broken_files
from kit.golden.encoder import Section, assemble, encode, parts_of
from kit.golden.manifest import CONTENT, CORRUPT, PARTS, PLACES, broken_manifests
from kit.golden.manifest import VALID as MANIFEST
from kit.golden.plan import VALID as PLANS
from kit.golden.plan import broken_plans, plans
from kit.golden.valid import SECTIONS_REVERSED, STORES, UNKNOWN_SECTION, VALID
from kit.places import INTEGRATION_TESTS

GOLDEN = INTEGRATION_TESTS / "golden"


def contents() -> dict[str, bytes]:
    """Every golden file: path relative to the golden folder, and bytes."""
    files = {spec["file"]: encode(spec) for spec in VALID}
    files |= {broken.file: broken.content for broken in [*broken_files(), *broken_manifests()]}
    files[MANIFEST] = CONTENT
    files |= plans() | {broken.file: broken.content for broken in broken_plans()}

    extended = parts_of(UNKNOWN_SECTION)
    extended.sections.insert(1, Section(900, b"from a later release", flags=0))
    files[UNKNOWN_SECTION["file"]] = assemble(extended)

    backwards = parts_of(SECTIONS_REVERSED)
    backwards.sections.reverse()
    files[SECTIONS_REVERSED["file"]] = assemble(backwards)
    return files


def expected() -> str:
    """What readers must return or refuse, as JSON."""
    broken = [
        {"file": it.file, "condition": it.condition, "found": it.found, "why": it.why}
        for it in broken_files()
    ]
    parts = [
        {"place": place, "layer": {key: it[key] for key in ("partitions", "members")}}
        for place, it in zip(PLACES, PARTS, strict=True)
    ]
    broken_parts = [
        {"file": it.file, "place": it.place, "condition": CORRUPT, "why": it.why}
        for it in broken_manifests()
    ]
    manifests = {"valid": {"file": MANIFEST, "parts": parts}, "broken": broken_parts}
    wrong_plans = [{"file": it.file, "condition": CORRUPT, "why": it.why} for it in broken_plans()]
    every = {
        "valid": VALID,
        "broken": broken,
        "stores": STORES,
        "manifests": manifests,
        "plans": {"valid": PLANS, "broken": wrong_plans},
    }
    return json.dumps(every, indent=1, ensure_ascii=False) + "\n"


def write(target: Path) -> None:
    """Replaces every golden file under `target`."""
    for folder in ("valid", "broken"):
        shutil.rmtree(target / folder, ignore_errors=True)
    for name, content in contents().items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (target / "expected.json").write_text(expected(), encoding="utf-8")
