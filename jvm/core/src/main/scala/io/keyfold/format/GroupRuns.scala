package io.keyfold.format

import java.util.Arrays

/** The group runs of a file in columns: a small delta has thousands, and few are used.
  *
  * @param fields
  *   family, group, block, entry and entries of each run, one after another
  */
private[format] final class GroupRuns private (fields: Array[Int], bytes: Array[Long], count: Int)
    extends IndexedSeq[GroupRun] {
  import GroupRuns._

  override def length: Int = count

  override def apply(i: Int): GroupRun = {
    if (i < 0 || i >= count) throw new IndexOutOfBoundsException(s"index $i of $count")
    val at = i * Fields
    GroupRun(fields(at), fields(at + 1), fields(at + 2), fields(at + 3), fields(at + 4), bytes(i))
  }
}

private[format] object GroupRuns {
  private val Fields = 5

  final class Builder(expected: Int) {
    private var fields = new Array[Int](expected * Fields)
    private var bytes = new Array[Long](expected)
    private var count = 0

    def add(family: Int, group: Int, block: Int, entry: Int, entries: Int, size: Long): Unit = {
      if (count == bytes.length) {
        bytes = Arrays.copyOf(bytes, math.max(count * 2, 16))
        fields = Arrays.copyOf(fields, bytes.length * Fields)
      }
      val at = count * Fields
      fields(at) = family
      fields(at + 1) = group
      fields(at + 2) = block
      fields(at + 3) = entry
      fields(at + 4) = entries
      bytes(count) = size
      count += 1
    }

    /** The runs added; the builder must not be used any more. */
    def result(): GroupRuns = new GroupRuns(fields, bytes, count)
  }
}
