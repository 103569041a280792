"""The manifest of a rescale, which lists the old partitions' files (docs/FORMAT.md, section 11)."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold.errors import FileCorruptError
from keyfold.format.footer import Footer, Part, Reference
from keyfold.format.footer_parser import parse_reference
from keyfold.format.frame import check_sum
from keyfold.format.plan import PLAN_ID
from keyfold.format.reader import errors_of, read_whole
from keyfold.format.source import Source
from keyfold.wire.codec import decompress
from keyfold.wire.cursor import Cursor, MalformedError


@dataclass(frozen=True)
class LayerPartition:
    """An old partition's files, in the order to apply them.

    `on_top`: they change rows of the layer before.
    """

    partition: int
    on_top: bool
    files: tuple[Reference, ...]


@dataclass(frozen=True)
class Layer:
    """The files of some of the `partitions` partitions before a rescale."""

    partitions: int
    members: tuple[LayerPartition, ...]


def manifest_path(reference: Footer) -> str:
    """Path in the checkpoint of the manifest that a reference names.

    Raises:
        FileCorruptError: the reference does not name a manifest.
    """
    identity = reference.identity
    if PLAN_ID.fullmatch(reference.plan) is None:
        raise FileCorruptError(
            f"Cannot read the reference of operator {identity.operator} partition "
            f"{identity.partition} store {identity.store}, version {identity.version}: it names a "
            f"manifest by {reference.plan!r}, which is no id. Restore it from a copy."
        )
    return f"keyfold/rescale-{identity.version - 1}-{reference.plan}.manifest"


def read_layer(source: Source, part: Part) -> Layer:
    """One part of a manifest.

    Raises:
        FileCorruptError: it is damaged.
    """
    name = f"the part at {part.offset}"
    with errors_of(source):
        if part.offset + part.stored_length > source.size:
            raise MalformedError(f"{name} would end after the file")
        stored = read_whole(source, part.offset, part.stored_length)
        check_sum(stored, part.checksum, name)
        cursor = Cursor(decompress(stored, part.raw_length, part.codec), name)
        partitions = cursor.i32()
        layer = Layer(partitions, tuple(_partition(cursor) for _ in range(cursor.u32())))
        cursor.end()
        numbers = [it.partition for it in layer.members]
        if numbers != sorted(set(numbers)) or not all(0 <= it < partitions for it in numbers):
            raise MalformedError(f"{name} has partitions that are not where they belong")
    return layer


def _partition(cursor: Cursor) -> LayerPartition:
    partition, on_top = cursor.i32(), cursor.u8()
    if on_top > 1:
        raise MalformedError(f"partition {partition} has the invalid flag {on_top}")
    return LayerPartition(
        partition, bool(on_top), tuple(parse_reference(cursor) for _ in range(cursor.u32()))
    )
