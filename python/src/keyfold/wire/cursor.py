"""Bounded reading of the format's integers, strings and columns from bytes."""

from __future__ import annotations

from functools import partialmethod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt


class MalformedError(ValueError):
    """Bytes that violate the format. The caller, who knows the file, raises its error instead."""


class Cursor:
    """A position in bytes that never reads past their end.

    Every method raises `MalformedError`, which names `what`, if too few bytes are left; nothing is
    allocated before that check.
    """

    def __init__(self, data: bytes, what: str, order: Literal["little", "big"] = "little") -> None:
        """`order` is that of the bytes of an integer."""
        self._data = data
        self._what = what
        self._order = order
        self._at = 0

    def _integer(self, size: int, *, signed: bool = False) -> int:
        return int.from_bytes(self.take(size), self._order, signed=signed)

    # One integer of so many bits, unsigned or signed.
    u8 = partialmethod(_integer, 1)
    u16 = partialmethod(_integer, 2)
    u32 = partialmethod(_integer, 4)
    u64 = partialmethod(_integer, 8)
    i16 = partialmethod(_integer, 2, signed=True)
    i32 = partialmethod(_integer, 4, signed=True)
    i64 = partialmethod(_integer, 8, signed=True)

    def text(self) -> str:
        """One `str`."""
        data = self.take(self.u16())
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise MalformedError(f"{self._what} has a string that is not UTF-8") from error

    def column(self, dtype: str, count: int) -> npt.NDArray[Any]:
        """`count` integers of a NumPy type, such as `<u4`."""
        return np.frombuffer(self.take(count * np.dtype(dtype).itemsize), dtype)

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        if size > self.left:
            raise MalformedError(f"{self._what} needs {size} bytes more and has {self.left}")
        start, self._at = self._at, self._at + size
        return self._data[start : self._at]

    @property
    def left(self) -> int:
        """Bytes not read yet."""
        return len(self._data) - self._at

    def end(self) -> None:
        """Checks that everything was read."""
        if self.left:
            raise MalformedError(f"{self._what} has {self.left} bytes left over")
