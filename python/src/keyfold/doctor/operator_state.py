"""The state of one operator at the last batch, by partition, from listings and heads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from keyfold.errors import KeyfoldError
from keyfold.format.footer import Family, Footer, total
from keyfold.format.names import FileKind, StoreLocation, is_number, parse_name
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.chain import Step, chain_of
from keyfold.state.walk import Part, is_in_partition_0_alone
from keyfold.storage.files import Listed
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
        return not is_in_partition_0_alone(self._heads)

    @cached_property
    def subtasks(self) -> int | None:
        """How many subtasks its state belongs to; None if it belongs to keys."""
        own = [it.keys for it in self._families if it.name.startswith(SUBTASK_OF)]
        return total(own) if own else None

    @cached_property
    def key_groups(self) -> int | None:
        """Number of key groups; None if no head can be read."""
        return next((it.identity.key_groups for it in self._heads), None)

    @cached_property
    def not_movable(self) -> list[str]:
        """Names of the families that a rescale refuses to move."""
        # "none" is the rule of a family for which none is known (docs/FORMAT.md, section 4.3).
        found = {it.name for it in self._families if it.strays or it.partition_key == "none"}
        return sorted(found)

    @cached_property
    def values(self) -> list[int | None]:
        """Values in each partition: the rows, of a list all that it has; None if not known."""
        return [total(it.values for it in parts) for parts in self.partitions]

    @cached_property
    def bytes(self) -> list[int | None]:
        """Bytes of keys and values in each partition; None if not known."""
        return [total(it.bytes for it in parts) for parts in self.partitions]

    @cached_property
    def disk_bytes(self) -> int:
        """Bytes of all files, also in folders of partitions from before a rescale to fewer."""
        own = sum(size for part in self.parts for size in part.files.sizes.values())
        return own + sum(it.size for it in self._left_over())

    def _left_over(self) -> Iterator[Listed]:
        for part in (store[0] for store in self.stores if store):
            storage, here = part.files.storage, part.location
            names = [it.name for it in storage.listing(f"state/{here.operator}") if it.is_folder]
            numbers = [int(it) for it in names if is_number(it)]
            others = [
                StoreLocation(here.operator, it, here.store).folder
                for it in numbers
                if it >= len(self.partitions)
            ]
            for found in storage.side_by_side(storage.listing, others):
                yield from (it for it in found if not it.is_folder and parse_name(it.name))

    @cached_property
    def chains(self) -> list[tuple[Part, tuple[Step, ...]]]:
        """The files that a load of each part reads, without parts that cannot be loaded."""
        if not self.parts:
            return []
        found = self.parts[0].files.storage.side_by_side(_steps, self.parts)
        return [(it, steps) for it, steps in zip(self.parts, found, strict=True) if steps]

    def load_bytes(self, partition: int | None = None) -> int:
        """Bytes of the files that loads read, of one partition or of all."""
        return sum(
            length_of(part, step)
            for part, steps in self.chains
            if partition in {None, part.location.partition}
            for step in steps
        )

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
        return [family for head in self._heads for family in head.families]

    @cached_property
    def _heads(self) -> list[Footer]:
        return [it.head for it in self.parts if it.head is not None]


def length_of(part: Part, step: Step) -> int:
    """Bytes of a file that a load of the part reads; after a rescale, of an old partition's too."""
    own = part.files.size_of(step.path)
    if own is None:
        return step.reference.length if step.reference else 0
    return own


def _steps(part: Part) -> tuple[Step, ...]:
    """The files that a load reads; none if it cannot be loaded."""
    try:
        return chain_of(part.files, part.written).steps
    except KeyfoldError:
        return ()
