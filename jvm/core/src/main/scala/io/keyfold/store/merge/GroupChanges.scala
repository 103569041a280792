package io.keyfold.store.merge

import io.keyfold.format.Layout.EntryType
import io.keyfold.format.{BlockEntries, FileWriter}
import io.keyfold.mem.Slice

/** The net changes of a key group, put together from the entries of several files, the oldest file
  * first: of each key the last PUT or REMOVE and the APPENDs after it. Keeps the blocks of the
  * entries on the heap.
  *
  * @param most
  *   number of entries that will be added at most
  */
private[merge] final class GroupChanges(most: Int) {
  import GroupChanges._

  private val blocks = new Array[BlockEntries](most)
  private val entries = new Array[Int](most)

  /** For the first entry that counts of a key, the number of the next one and of the last one. */
  private val nexts = new Array[Int](most)
  private val lasts = new Array[Int](most)
  private var count = 0

  /** Numbers of the first entries of the keys, in the order in which keys came. */
  private val firsts = new Array[Int](most)
  private val types = new Array[Int](most)
  private var keys = 0

  /** An open-addressing table of keys: the key's index in `firsts`, and 1. */
  private val slots = new Array[Int](math.max(4, Integer.highestOneBit(math.max(most, 1)) * 4))

  private val key = new Slice
  private val value = new Slice

  def add(block: BlockEntries, entry: Int): Unit = {
    val number = count
    blocks(number) = block
    entries(number) = entry
    nexts(number) = None
    lasts(number) = number
    count += 1
    val entryType = block.entryType(entry)
    val at = slotOf(block, entry)
    if (slots(at) == 0) {
      firsts(keys) = number
      types(keys) = entryType
      keys += 1
      slots(at) = keys
    } else {
      val found = slots(at) - 1
      if (entryType != EntryType.Append || types(found) == EntryType.Remove) {
        firsts(found) = number
        types(found) = if (entryType == EntryType.Append) EntryType.Put else entryType
      } else {
        val first = firsts(found)
        nexts(lasts(first)) = number
        lasts(first) = number
      }
    }
  }

  private def slotOf(block: BlockEntries, entry: Int): Int = {
    val mask = slots.length - 1
    // Hashes of one group are equal modulo the number of groups: their lower bits say little.
    var at = (block.hash(entry) * Spread >>> 8) & mask
    while (slots(at) != 0 && !isKey(slots(at) - 1, block, entry)) at = (at + 1) & mask
    at
  }

  private def isKey(index: Int, block: BlockEntries, entry: Int) = {
    val first = firsts(index)
    block.sameKey(entry, blocks(first), entries(first))
  }

  def writeTo(file: FileWriter): Unit = {
    var k = 0
    while (k < keys) {
      val first = firsts(k)
      val block = blocks(first)
      val hash = block.hash(entries(first))
      block.key(entries(first), key)
      if (types(k) == EntryType.Remove) file.add(EntryType.Remove, hash, key, value)
      else {
        file.add(types(k), hash, key, block.value(entries(first), 0, value))
        var number = first
        var from = 1
        while (number != None) {
          addValues(file, hash, number, from)
          number = nexts(number)
          from = 0
        }
      }
      k += 1
    }
  }

  private def addValues(file: FileWriter, hash: Int, number: Int, from: Int): Unit = {
    val block = blocks(number)
    var v = from
    while (v < block.values(entries(number))) {
      file.addValue(hash, key, block.value(entries(number), v, value))
      v += 1
    }
  }
}

private object GroupChanges {
  private val None = -1

  /** Knuth's multiplicative hash: the golden ratio of 2^32. */
  private val Spread = 0x9e3779b9
}
