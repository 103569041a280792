package io.keyfold.map.value

/** Records in an array, from index `from` until index `until`. */
private[map] final class RecordRun(records: Array[Int], from: Int, until: Int) {
  def size: Int = until - from
  def apply(i: Int): Int = records(from + i)
}
