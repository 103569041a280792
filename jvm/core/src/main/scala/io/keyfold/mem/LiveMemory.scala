package io.keyfold.mem

import java.util.Arrays

/** The live off-heap memory, for [[Mem.Checks]]. Threads: any. */
private[mem] object LiveMemory {

  /** Sorted starts, and the end (exclusive) of each. Immutable: readers take no lock. */
  private final class Ranges(val starts: Array[Long], val ends: Array[Long])

  @volatile private var ranges = new Ranges(Array.emptyLongArray, Array.emptyLongArray)

  def add(start: Long, bytes: Long): Unit = synchronized {
    val at = ranges.starts.count(_ < start)
    ranges = new Ranges(
      ranges.starts.patch(at, Seq(start), 0),
      ranges.ends.patch(at, Seq(start + bytes), 0)
    )
  }

  def remove(start: Long): Unit = synchronized {
    val at = Arrays.binarySearch(ranges.starts, start)
    if (at < 0) throw new IllegalStateException(f"Cannot free 0x$start%x: ${nearest(start)}")
    ranges = new Ranges(ranges.starts.patch(at, Nil, 1), ranges.ends.patch(at, Nil, 1))
  }

  /** @throws java.lang.IllegalStateException
    *   if the range is not within the array, or within one piece of live memory
    */
  def check(base: AnyRef, offset: Long, length: Long): Unit = base match {
    case null =>
      val known = ranges
      val found = Arrays.binarySearch(known.starts, offset)
      val at = if (found >= 0) found else -found - 2
      if (length != 0 && (length < 0 || at < 0 || length > known.ends(at) - offset)) {
        throw new IllegalStateException(
          f"Invalid access to $length bytes at 0x$offset%x: ${nearest(offset)}"
        )
      }
    case array: Array[Byte] =>
      val from = offset - Mem.ArrayOffset
      if (length < 0 || from < 0 || length > array.length - from) {
        throw new IllegalStateException(
          s"Invalid access to $length bytes from $from of an array of ${array.length} bytes"
        )
      }
    case _ => ()
  }

  private def nearest(address: Long): String = {
    val known = ranges
    if (known.starts.isEmpty) "no memory is allocated"
    else {
      val at = known.starts.indices.minBy { i =>
        math.min((address - known.starts(i)).abs, (address - known.ends(i)).abs)
      }
      f"the nearest allocation is 0x${known.starts(at)}%x to 0x${known.ends(at)}%x"
    }
  }
}
