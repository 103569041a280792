"""The state of one operator at the last batch, by partition, from listings and heads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from keyfold.errors import KeyfoldError
from keyfold.format.footer import Family, Footer, total
from keyfold.format.names import FileKind
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.chain import Step, chain_of
from keyfold.state.walk import Part, is_in_partition_0_alone
from keyfold.subtasks.declared import SUBTASK_OF
from keyfold.text.printable import printable


@dataclass(frozen=True, eq=False)
class OperatorState:
    """An operator; `stores` has the parts of each of its stores, in the order of partitions."""

    metadata: OperatorMetadata
    stores: list[list[Part]]

    @property
    def label(self) -> str:
        """For people, within a sentence."""
        return printable(f"operator {self.metadata.id} ({self.metadata.name})")

    @property
    def title(self) -> str:
        """The same at the beginning of one."""
        return f"O{self.label[1:]}"

    @cached_property
    def parts(self) -> list[Part]:
        """All parts."""
        return [part for store in self.stores for part in store]

    @cached_property
    def partitions(self) -> list[tuple[Part, ...]]:
        """The parts of each partition."""
        return list(zip(*self.stores, strict=True))

    @cached_property
    def is_spread(self) -> bool:
        """Whether it has more than one partition, or could have."""
        return not is_in_partition_0_alone(self._heads(self.parts))

    @cached_property
    def subtasks(self) -> int | None:
        """How many subtasks its state belongs to; None if it belongs to keys."""
        own = [it.keys for it in self._families if it.name.startswith(SUBTASK_OF)]
        return total(own) if own else None

    @cached_property
    def key_groups(self) -> int | None:
        """Number of key groups; None if no head can be read."""
        return next((it.identity.key_groups for it in self._heads(self.parts)), None)

    @cached_property
    def not_movable(self) -> list[str]:
        """Names of the families that a rescale refuses to move."""
        # "none" is the rule of a family for which none is known (docs/FORMAT.md, section 4.3).
        found = {it.name for it in self._families if it.strays or it.partition_key == "none"}
        return sorted(found)

    @cached_property
    def values(self) -> list[int | None]:
        """Values in each partition: the rows, of a list all that it has; None if not known."""
        return [total(map(_values, parts)) for parts in self.partitions]

    @cached_property
    def bytes(self) -> list[int | None]:
        """Bytes of keys and values in each partition; None if not known."""
        return [total(map(_bytes, parts)) for parts in self.partitions]

    @property
    def disk_bytes(self) -> int:
        """Bytes of all files."""
        return sum(size for part in self.parts for size in part.files.sizes.values())

    @cached_property
    def chains(self) -> list[tuple[Part, tuple[Step, ...]]]:
        """The files that a load of each part reads, without parts that cannot be loaded."""
        found = []
        for part in self.parts:
            try:
                found.append((part, chain_of(part.files, part.written).steps))
            except KeyfoldError:
                continue
        return found

    def deltas(self, versions: range) -> Iterator[tuple[Part, int, list[int]]]:
        """Part, version and the sizes of its deltas, one of each attempt, of these versions."""
        for part in self.parts:
            found: dict[int, list[int]] = {}
            for name, size in part.files.sizes.items():
                if name.kind is FileKind.DELTA and name.version in versions:
                    found.setdefault(name.version, []).append(size)
            for version, sizes in found.items():
                yield part, version, sizes

    @cached_property
    def _families(self) -> list[Family]:
        return [family for head in self._heads(self.parts) for family in head.families]

    @staticmethod
    def _heads(parts: Iterable[Part]) -> list[Footer]:
        return [it.head for it in parts if it.head is not None]


def values_in(head: Footer) -> int | None:
    """Values of a version, of internal families too; None if not known."""
    return total(it.values for it in head.families)


def _values(part: Part) -> int | None:
    return None if part.head is None else values_in(part.head)


def _bytes(part: Part) -> int | None:
    return None if part.head is None else part.head.bytes
