"""Finds entries with equal keys, without a loop over entries."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from keyfold.rows.places import Flags, Ints, Octets, Places, read
from keyfold.state.pieces import Entries

_MIX = np.uint64(0x9E3779B97F4A7C15)
_TURN = np.uint64(32)
_MOST_BITS = 26


def repeated(entries: Entries) -> tuple[Ints, Flags]:
    """Entries that may share their key with others, ordered by key and then by entry.

    Returns:
        Their indices, and whether each is the first of its key. All other entries are the only ones
        of their keys.
    """
    prints = fingerprints(entries)
    found = np.flatnonzero(_shared(prints))
    order = found[np.argsort(prints[found], kind="stable")]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = prints[order][1:] != prints[order][:-1]
    differing = np.flatnonzero(~first & ~_equal_to_previous(entries, order))
    if len(differing):
        return _exactly(entries, order)
    return order, first


def fingerprints(entries: Entries) -> npt.NDArray[np.uint64]:
    """A 64-bit fingerprint of each key."""
    starts, lengths = entries.key_starts(), entries.key_lengths
    found = entries.hashes.astype(np.uint64) * _MIX
    widths = np.sort(lengths)
    widths = widths[np.diff(widths, prepend=-1) != 0]
    for width in widths.tolist():
        rows: Ints | slice = slice(None)
        places = Places(None, len(starts), 0, width)
        if len(widths) > 1:
            rows = np.flatnonzero(lengths == width)
            places = Places.of(starts[rows])
        part = found[rows] ^ np.uint64(width)
        for at in range(0, width - 7, 8):
            part = _mixed(part, read(entries.keys, places.plus(at), "<u8").astype(np.uint64))
        for at in range(width // 8 * 8, width):
            part = _mixed(part, read(entries.keys, places.plus(at), "u1").astype(np.uint64))
        found[rows] = part
    return found


def _mixed(prints: npt.NDArray[np.uint64], words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    found = (prints ^ words) * _MIX
    return found ^ (found >> _TURN)


def _shared(prints: npt.NDArray[np.uint64]) -> Flags:
    """Entries that share their place in a hash table with another one."""
    count = len(prints)
    bits = min(_MOST_BITS, max(4, count.bit_length() + 3))
    places = (prints >> np.uint64(64 - bits)).astype(np.int64)
    table = np.zeros(1 << bits, dtype=np.int32)
    table[places] = np.arange(count, dtype=np.int32)
    lost = table[places] != np.arange(count, dtype=np.int32)
    hit = np.zeros(1 << bits, dtype=np.bool_)
    hit[places[lost]] = True
    found: Flags = hit[places]
    return found


def _equal_to_previous(entries: Entries, order: Ints) -> Flags:
    """Whether each entry but the first has the same key as the one before it, in a given order."""
    found = np.zeros(len(order), dtype=np.bool_)
    if len(order) < 2:  # noqa: PLR2004 - one has none before it
        return found
    starts, lengths = entries.key_starts()[order], entries.key_lengths[order]
    found[1:] = equal_slices(entries.keys, starts[1:], lengths[1:], starts[:-1], lengths[:-1])
    return found


def equal_slices(
    data: Octets, starts: Ints, lengths: Ints, others: Ints, other_lengths: Ints
) -> Flags:
    """Compares slices of bytes with other slices."""
    equal: Flags = lengths == other_lengths
    left = np.flatnonzero(equal & (lengths > 0))
    at = 0
    while len(left):
        step = 8 if bool((lengths[left] >= at + 8).all()) else 1
        dtype = "u1" if step == 1 else "<u8"
        this = read(data, Places.of(starts[left] + at), dtype)
        equal[left] = this == read(data, Places.of(others[left] + at), dtype)
        at += step
        left = left[equal[left] & (lengths[left] > at)]
    return equal


def _exactly(entries: Entries, order: Ints) -> tuple[Ints, Flags]:
    """The same by the keys themselves, if two keys have the same fingerprint."""
    starts, lengths = entries.key_starts(), entries.key_lengths
    keys = [bytes(entries.keys[starts[i] : starts[i] + lengths[i]]) for i in order.tolist()]
    places = sorted(range(len(keys)), key=lambda place: (keys[place], int(order[place])))
    first = [at == 0 or keys[places[at - 1]] != keys[place] for at, place in enumerate(places)]
    return order[places], np.array(first, dtype=np.bool_)
