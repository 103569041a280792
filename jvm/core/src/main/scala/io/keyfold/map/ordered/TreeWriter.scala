package io.keyfold.map.ordered

import io.keyfold.map.version.{PageSpace, RecordSpace}
import io.keyfold.mem.Slice

/** Writes to ordered trees within one transaction, copying pages that others may read. Methods
  * return the page that replaces the given one. A cold leaf that is to be written is replaced by
  * one with records, so that the rest is as for any other leaf.
  */
private[map] final class TreeWriter(pages: PageSpace, space: RecordSpace)
    extends OrderedTree(pages.cold.arena.addresses, pages.cold.files) {
  import TreePages._
  import TreeWriter._

  /** The page that `insert` split off; 0 if none. */
  private var splitPage = 0
  private var splitSeparator = 0
  private val separatorKey = new Slice

  private val arena = pages.cold.arena

  /** Takes the rows of the leaf that has, or would have, a key back into memory. */
  def takeBack(page: Int, key: Slice): Int = {
    val owned = own(page)
    val at = addresses.of(owned)
    if (isBranch(at)) {
      val i = childFor(at, key)
      setChild(at, i, takeBack(child(at, i), key))
    }
    owned
  }

  /** A leaf with records in the place of a cold one. */
  private def takeBack(leaf: Int): Int = {
    val from = addresses.of(leaf)
    val page = newPage(branch = false)
    val to = addresses.of(page)
    val ofBase = pages.isOfBase(from)
    cold.start(from)
    while (cold.next()) {
      val row = cold.row
      insertRecord(to, entries(to), space.takeRow(row, isOfLists(from), ofBase || !row.isChanged))
    }
    pages.retire(leaf)
    page
  }

  /** Adds a record whose key is absent. */
  def insert(root: Int, key: Slice, record: Int): Int = {
    val page = if (root == 0) newPage(branch = false) else root
    val left = insertIn(page, key, record)
    if (splitPage == 0) left
    else {
      val above = newPage(branch = true)
      val at = addresses.of(above)
      setEntries(at, 2)
      setChild(at, 0, left)
      setChild(at, 1, splitPage)
      setSeparator(at, 1, splitSeparator)
      splitPage = 0
      above
    }
  }

  private def insertIn(page: Int, key: Slice, record: Int): Int = {
    val owned = own(page)
    val at = addresses.of(owned)
    if (isBranch(at)) insertBelow(at, key, record)
    else {
      val i = lowerBound(at, key)
      val target = if (entries(at) == Capacity) splitAt(at, if (i == Capacity) i else Half) else at
      val start = entries(at)
      if (target != at && i >= start) insertRecord(target, i - start, record)
      else insertRecord(at, i, record)
      if (target != at) {
        splitSeparator = newSeparator(records.key(TreePages.record(target, 0), separatorKey))
      }
    }
    owned
  }

  private def insertBelow(at: Long, key: Slice, record: Int): Unit = {
    val i = childFor(at, key)
    setChild(at, i, insertIn(child(at, i), key, record))
    if (splitPage != 0) {
      val page = splitPage
      val separator = splitSeparator
      splitPage = 0
      insertChild(at, i + 1, page, separator)
    }
  }

  private def insertChild(at: Long, i: Int, page: Int, separator: Int): Unit =
    if (entries(at) < Capacity) {
      open(at, i)
      setChild(at, i, page)
      setSeparator(at, i, separator)
    } else {
      val right = splitAt(at, Half)
      splitSeparator = TreePages.separator(right, 0)
      setSeparator(right, 0, 0)
      if (i > Half) insertChild(right, i - Half, page, separator)
      else insertChild(at, i, page, separator)
    }

  private def insertRecord(at: Long, i: Int, record: Int): Unit = {
    open(at, i)
    setRecord(at, i, record)
  }

  /** Moves the entries from `start` on to a new page, which becomes [[splitPage]].
    *
    * @return
    *   its address
    */
  private def splitAt(at: Long, start: Int): Long = {
    splitPage = newPage(isBranch(at))
    val right = addresses.of(splitPage)
    moveTail(at, start, right)
    right
  }

  /** Replaces the record of a key by another. */
  def replace(page: Int, key: Slice, record: Int): Int = {
    val owned = own(page)
    val at = addresses.of(owned)
    if (isBranch(at)) {
      val i = childFor(at, key)
      setChild(at, i, replace(child(at, i), key, record))
    } else setRecord(at, lowerBound(at, key), record)
    owned
  }

  /** Removes the record of a key that is present. */
  def remove(root: Int, key: Slice): Int = {
    var page = removeIn(root, key)
    while (page != 0 && isBranch(addresses.of(page)) && entries(addresses.of(page)) == 1) {
      val only = child(addresses.of(page), 0)
      pages.retire(page)
      page = only
    }
    page
  }

  private def removeIn(page: Int, key: Slice): Int = {
    val owned = own(page)
    val at = addresses.of(owned)
    if (isBranch(at)) {
      val i = childFor(at, key)
      val after = removeIn(child(at, i), key)
      if (after == 0) removeChild(at, i)
      else {
        setChild(at, i, after)
        joinSmall(at, i)
      }
    } else close(at, lowerBound(at, key))
    if (entries(at) > 0) owned
    else {
      pages.retire(owned)
      0
    }
  }

  /** The new first entry loses its separator. */
  private def removeChild(at: Long, i: Int): Unit = {
    if (i > 0) pages.retire(separator(at, i))
    close(at, i)
    if (i == 0 && entries(at) > 0) {
      pages.retire(separator(at, 0))
      setSeparator(at, 0, 0)
    }
  }

  /** Joins a page that has become small with the next one, or for the last one with the previous,
    * if both fit well.
    */
  private def joinSmall(at: Long, i: Int): Unit =
    if (entries(at) > 1 && entries(addresses.of(child(at, i))) < Small) {
      val left = if (i + 1 < entries(at)) i else i - 1
      val sum = entries(addresses.of(child(at, left))) + entries(addresses.of(child(at, left + 1)))
      if (sum <= Joined) join(at, left)
    }

  private def join(at: Long, left: Int): Unit = {
    setChild(at, left, own(child(at, left)))
    setChild(at, left + 1, own(child(at, left + 1)))
    val to = addresses.of(child(at, left))
    val right = child(at, left + 1)
    val from = addresses.of(right)
    if (isBranch(from)) setSeparator(from, 0, separator(at, left + 1))
    else pages.retire(separator(at, left + 1))
    moveTail(from, 0, to)
    pages.retire(right)
    close(at, left + 1)
  }

  /** Retires a whole tree.
    *
    * @param each
    *   called with each of its records
    */
  def retireAll(page: Int)(each: Int => Unit): Unit = if (page != 0) {
    val at = addresses.of(page)
    val branch = isBranch(at)
    var i = 0
    while (i < entries(at)) {
      if (branch) {
        retireAll(child(at, i))(each)
        if (separator(at, i) != 0) pages.retire(separator(at, i))
      } else if (!isCold(at)) each(record(at, i))
      i += 1
    }
    pages.retire(page)
  }

  /** Frees the pages and separators below `page` made after `epoch`; `freeRecord` frees a record.
    */
  def freeNewer(page: Int, epoch: Int)(freeRecord: Int => Unit): Unit = if (page != 0) {
    val at = addresses.of(page)
    if (TreePages.epoch(at) > epoch) {
      val branch = isBranch(at)
      var i = 0
      while (i < entries(at)) {
        if (branch) {
          freeNewer(child(at, i), epoch)(freeRecord)
          val s = separator(at, i)
          if (s != 0 && TreePages.epoch(addresses.of(s)) > epoch) arena.free(s)
        } else if (!isCold(at) && records.epoch(record(at, i)) > epoch) freeRecord(record(at, i))
        i += 1
      }
      PageSpace.free(page, pages.cold)
    }
  }

  private def newPage(branch: Boolean): Int = {
    val page = arena.allocate(pageLength(branch))
    initialize(addresses.of(page), pages.epoch, branch)
    page
  }

  private def newSeparator(key: Slice): Int = {
    val separator = arena.allocate(separatorLength(key))
    writeSeparator(addresses.of(separator), pages.epoch, key)
    separator
  }

  private def own(page: Int): Int = {
    val at = addresses.of(page)
    if (isCold(at)) takeBack(page) else pages.own(page, pageLength(isBranch(at)))
  }
}

private object TreeWriter {
  private val Half = TreePages.Capacity / 2

  /** A page with fewer entries is joined with its neighbour if the sum is at most `Joined`. */
  private val Small = TreePages.Capacity / 4
  private val Joined = TreePages.Capacity * 3 / 4
}
