package io.keyfold.map.value

/** A growable list of unboxed ints. */
private[map] final class IntList {
  private var items = Array.emptyIntArray
  private var count = 0

  def size: Int = count
  def apply(i: Int): Int = items(i)

  def add(item: Int): Unit = {
    if (count == items.length) items = java.util.Arrays.copyOf(items, math.max(16, count * 2))
    items(count) = item
    count += 1
  }

  def removeLast(): Int = {
    count -= 1
    items(count)
  }

  def toArray: Array[Int] = java.util.Arrays.copyOf(items, count)

  def update(i: Int, item: Int): Unit = items(i) = item

  /** Removes the items from `size` on. */
  def cutTo(size: Int): Unit = count = size

  /** Inserts the items of another list before those of this one. */
  def addFirst(other: IntList): Unit = {
    val all = new Array[Int](other.count + count)
    System.arraycopy(other.items, 0, all, 0, other.count)
    System.arraycopy(items, 0, all, other.count, count)
    items = all
    count = all.length
  }

  def addAll(other: IntList): Unit = for (i <- 0 until other.count) add(other.items(i))

  /** Removes the items, and frees their array if it is large. */
  def clear(): Unit = {
    count = 0
    if (items.length > IntList.RoomKept) items = Array.emptyIntArray
  }
}

private object IntList {
  private val RoomKept = 4096
}
