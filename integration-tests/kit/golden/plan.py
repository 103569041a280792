"""The golden plans: what they say as plain data, and their encoder.

One is of the rescale with the golden manifest, one before an open batch and undone, one of a
redistribution.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from kit.golden.edits import flip
from kit.golden.encoder import Spec, crc32c
from kit.golden.manifest import PLAN

OWN: Spec = {
    "batch": 30,
    "id": PLAN,
    "from": 4,
    "to": 6,
    "undone": False,
    "files": [],
    "stores": [
        {
            "operator": 0,
            "store": "default",
            "refs": [f"state/0/{partition}/31_77a1e9{partition:02}.ref" for partition in range(6)],
            "folders": [f"state/0/{partition}" for partition in range(4)],
        },
        {
            "operator": 2,
            "store": "left-keyToNumValues",
            "refs": [
                "state/2/0/left-keyToNumValues/31_b1.ref",
                "state/2/1/left-keyToNumValues/31_b2.ref",
            ],
            "folders": ["state/2/0/left-keyToNumValues"],
        },
    ],
}

OPEN: Spec = {
    "batch": 7,
    "id": "open-2",
    "from": 2,
    "to": 1,
    "undone": True,
    "files": [
        {"path": "offsets/6", "before": "v1\n{}\n{2}", "after": "v1\n{}\n{1}"},
        {"path": "commits/6", "before": 'v2\n{"ids": ["a"]}', "after": 'v2\n{"ids": ["é"]}'},
        {"path": "state/0/_metadata/v2/6", "before": None, "after": "v2\n{1}"},
        {"path": "offsets/7", "before": "v1\n{}\n{2}\n", "after": "v1\n{}\n{1}\n"},
    ],
    "stores": [
        {
            "operator": 0,
            "store": "default",
            "refs": ["state/0/0/7_c1.ref"],
            "folders": ["state/0/0", "state/0/1"],
        }
    ],
}

REDISTRIBUTION: Spec = {
    "batch": 9,
    "id": "open-1",
    "from": 2,
    "to": 2,
    "undone": False,
    "files": [{"path": "commits/8", "before": "v2\n{}", "after": "v2\n{ }"}],
    "stores": [{"operator": 1, "store": "default", "refs": [], "folders": []}],
}


def _content(text: str | None) -> str:
    return "-" if text is None else base64.b64encode(text.encode()).decode()


def _lines(it: Spec) -> list[str]:
    lines = ["keyfold-rescale 1"]
    lines += [f"{key} {it[key]}" for key in ("batch", "id", "from", "to")]
    lines.append(f"undone {'true' if it['undone'] else 'false'}")
    for file in it["files"]:
        lines.append(f"file {file['path']} {_content(file['before'])} {_content(file['after'])}")
    for store in it["stores"]:
        lines.append(f"store {store['operator']} {store['store']}")
        lines += [f"ref {path}" for path in store["refs"]]
        lines += [f"folder {path}" for path in store["folders"]]
    return lines


def _sealed(lines: list[str]) -> bytes:
    content = "".join(f"{line}\n" for line in lines).encode()
    return content + f"crc32c {crc32c(content):08x}\n".encode()


def _name(it: Spec) -> str:
    return f"rescale-{it['batch']}-{it['id']}.plan"


VALID: list[Spec] = [
    it | {"file": f"valid/plan-{name}/keyfold/{_name(it)}"}
    for name, it in (("own", OWN), ("open", OPEN), ("redistribution", REDISTRIBUTION))
]


@dataclass(frozen=True)
class BrokenPlan:
    """A plan that a reader must refuse."""

    file: str
    content: bytes
    why: str


def plans() -> dict[str, bytes]:
    """Every valid plan."""
    return {it["file"]: _sealed(_lines(it)) for it in VALID}


def broken_plans() -> list[BrokenPlan]:
    """Every broken plan."""
    own, opened = _lines(OWN), _lines(OPEN)
    whole = _sealed(own)

    def broken(name: str, content: bytes, why: str, of: Spec = OWN) -> None:
        found.append(BrokenPlan(f"broken/plan-{name}/keyfold/{_name(of)}", content, why))

    found: list[BrokenPlan] = []
    broken("flip", flip(whole, 40), "bit 3 of byte 40 is flipped")
    broken("cut", whole[:-1], "the last byte is missing")
    broken("empty", b"", "nothing is there")
    broken("newer", _sealed(["keyfold-rescale 2", *own[1:]]), "format 2")
    broken("other", _sealed(["keyfold-rescale 1", "batch 31", *own[2:]]), "it is of batch 31")
    broken("undone", _sealed([*own[:5], "undone true", *own[6:]]), "undone, with its own batch")
    broken("file", _sealed([*own[:6], opened[6], *own[6:]]), "a file, with its own batch")
    broken("ref", _sealed([*own, "ref state/2/3/left-keyToNumValues/32_b4.ref"]), "version 32")
    broken("outside", _sealed([*own, "folder state/../0/0"]), "a folder is state/../0/0")
    broken(
        "reach", _sealed([*opened[:6], "file metadata - eA==", *opened[6:]]), "of metadata", OPEN
    )
    return found
