package io.keyfold.map

import java.util

/** A key's bytes with the row's hash, for the heap map's tables. */
private[map] final class RowKey(val hash: Int, val bytes: Array[Byte]) {
  private val mixed = hash * 31 + util.Arrays.hashCode(bytes)

  override def hashCode: Int = mixed

  override def equals(other: Any): Boolean = other match {
    case that: RowKey => mixed == that.mixed && util.Arrays.equals(bytes, that.bytes)
    case _            => false
  }
}

private[map] object RowKey {

  /** Keys as unsigned bytes; the hash does not matter. */
  implicit val ordering: Ordering[RowKey] =
    (a: RowKey, b: RowKey) => util.Arrays.compareUnsigned(a.bytes, b.bytes)
}
