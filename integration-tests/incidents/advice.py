"""What a message tells its reader to do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# In a sentence a command is in backticks; the verdict of fsck ends with a line of its own.
_IN_BACKTICKS = re.compile(r"`keyfold (\w+ [^`]+)`")
_LINE = re.compile(r"^keyfold (.+)$", re.MULTILINE)
_SETTING = re.compile(r"[Ss]et (spark\.[\w.]+)=(\S+?)[ .,;:]")
_NEEDLESS = re.compile(r"remove (spark\.[\w.]+)")
_DAMAGED_ENTRY = re.compile(
    r"Cannot understand (?:file:)?(\S+)/(\w+/\d+): .*delete it(?: and (\w+/\d+))? instead",
    re.DOTALL,
)
# By the verdict of fsck, a line each.
_DELETES = re.compile(
    r"delete these files, which (?:Spark|the query) writes again:\n(.*?)\nThen ", re.DOTALL
)
_DAMAGED_ID = re.compile(r"Cannot understand (?:file:)?(\S+/metadata): .*Or delete it", re.DOTALL)
_DROPPED = re.compile(r"delete (?:file:)?(\S+), which drops the batch, and run `keyfold ([^`]+)`")
_LATER_ENTRIES = re.compile(
    r"log back to batch (\d+), move the entries of later batches out of (?:file:)?(\S+/\w+):"
)
_NAMES_SETTING = re.compile(r"(spark\.sql\.streaming\.stateStore\.keyfold\.[\w.]*\w)")
# The end of the road, said in so many words.
LAST = "no batch is left to go back to"


@dataclass(frozen=True)
class Advice:
    """One thing to do: `kind` is command, set, unset, or start as before.

    `deletes` are files to delete first.
    """

    kind: str
    words: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()

    def deletes_of(self, sink: Path | None) -> Iterator[str]:
        """Entries of the sink's log to delete: of a batch that is taken out of both other logs."""
        if sink and {"offsets", "commits"} <= {it.split("/")[-2] for it in self.deletes}:
            yield from (f"{sink}/_spark_metadata/{Path(it).name}" for it in self.deletes)

    def __str__(self) -> str:
        """As a line of the walk's steps."""
        return " ".join((*self.deletes, self.kind, *self.words))


def advices(said: str) -> list[Advice]:
    """All ways that a message offers, in its order."""
    deletes = tuple(
        it.removeprefix("file:") for block in _DELETES.findall(said) for it in block.splitlines()
    )
    deletes += tuple(_DAMAGED_ID.findall(said))
    found = [
        Advice("command", tuple(shlex.split(command)), (path,))
        for path, command in _DROPPED.findall(said)
    ]
    found += [
        Advice("command", tuple(shlex.split(it)), deletes)
        for it in [*_IN_BACKTICKS.findall(_DROPPED.sub("", said)), *_LINE.findall(said)]
    ]
    found += [Advice("set", it, deletes) for it in _SETTING.findall(said)]
    found += [Advice("unset", (it,)) for it in _NEEDLESS.findall(said)]
    for root, *entries in _DAMAGED_ENTRY.findall(said):
        found.append(Advice("start", (), tuple(f"{root}/{it}" for it in entries if it)))
    for batch, log in _LATER_ENTRIES.findall(said):
        later = (
            it for it in Path(log).iterdir() if int(it.name.strip(".").split(".")[0]) > int(batch)
        )
        found.append(Advice("start", (), tuple(map(str, later))))
    if deletes and not found:
        found.append(Advice("start", (), deletes))
    if not found and "KEYFOLD_INVALID" in said:
        found += [Advice("unset", (it,)) for it in _NAMES_SETTING.findall(said)[:1]]
    return list(dict.fromkeys(found))
