package io.keyfold.map.hash

import java.util.concurrent.atomic.AtomicIntegerArray

/** The key groups of a table whose rows have not been put yet: nobody has seen or written one of
  * them. Any thread may ask.
  *
  * @param keyGroups
  *   G
  * @param groups
  *   those that are put together
  * @param family
  *   index of the family in [[io.keyfold.map.LazyRows]]
  */
private[map] final class LazyGroups(keyGroups: Int, groups: Seq[Array[Int]], val family: Int) {
  private val words = new AtomicIntegerArray((keyGroups + 31) >> 5)
  private val together = new Array[Array[Int]](keyGroups)

  private val places = new Array[Int](keyGroups)

  for (some <- groups; group <- some) {
    words.set(group >> 5, words.get(group >> 5) | 1 << group)
    together(group) = some
  }
  for ((group, place) <- groups.iterator.flatten.zipWithIndex) places(group) = place

  def has(group: Int): Boolean = (words.get(group >> 5) & 1 << group) != 0

  /** Where a group is among all, in the order in which they are read best. */
  def place(group: Int): Int = places(group)

  /** Those that are put with a group, itself among them. */
  def beside(group: Int): Array[Int] = together(group)

  /** The rows of a group are in the table. */
  def loaded(group: Int): Unit = words.set(group >> 5, words.get(group >> 5) & ~(1 << group))

  /** Those that have not been put, in the order in which they are read best. */
  def left: Array[Int] = groups.iterator.flatMap(_.filter(has)).toArray
}
