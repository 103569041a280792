package io.keyfold.store.merge

import scala.collection.mutable

import io.keyfold.format.{BlockEntries, FileReader, FileWriter, Footer, GroupRun}
import io.keyfold.group.GroupOrder
import io.keyfold.model.Family

/** Merges deltas, key group by key group. Of each file it has some blocks in memory, and all
  * entries of one key group.
  *
  * @param files
  *   deltas and merged deltas, each on top of the one before, oldest first; the caller closes them
  */
private[store] final class DeltaMerge(files: IndexedSeq[FileReader], order: GroupOrder) {
  import DeltaMerge._

  private val sources = files.map(new Source(_))

  /** Of the version that is made. */
  val families: Seq[Family] = files.last.footer.families

  /** Names of the families that one of the files drops. */
  val dropped: Seq[String] = files.flatMap(_.footer.dropped).distinct

  /** Bytes of the heap that it takes, about: the largest key group, and some blocks of each file.
    */
  def heapBytes: Long = {
    val groups = for {
      index <- families.indices
      group <- groupsOf(index)
    } yield runsOf(index, group).map { case (_, run) => run.bytes + EntryBytes * run.entries }.sum
    val blocks = files.map(_.footer.blocks.map(_.rawLength.toLong).maxOption.getOrElse(0L))
    groups.maxOption.getOrElse(0L) + blocks.map(_ + AtOnce).sum
  }

  /** Adds the entries to a file, which the caller finishes. */
  def writeTo(file: FileWriter): Unit =
    for (index <- families.indices) {
      val groups = order.sorted(groupsOf(index))
      for (i <- groups.indices) {
        val isSplit = i > 0 && order.isSplitBetween(groups(i - 1), groups(i))
        file.startGroup(index, groups(i), isSplit)
        val runs = runsOf(index, groups(i))
        val changes = new GroupChanges(runs.map(_._2.entries).sum)
        runs.foreach { case (source, run) => source.addTo(changes, run) }
        changes.writeTo(file)
      }
    }

  /** For each family those files that have not dropped it since, oldest first. */
  private val sourcesOf = families.map { family =>
    sources.drop(files.lastIndexWhere(_.footer.dropped.contains(family.spec.name)).max(0))
  }

  private def groupsOf(index: Int): Array[Int] =
    sourcesOf(index).flatMap(_.groupsOf(families(index).spec.name)).distinct.toArray

  private def runsOf(index: Int, group: Int): Seq[(Source, GroupRun)] =
    sourcesOf(index).flatMap(it => it.run(families(index).spec.name, group).map(it -> _))
}

private object DeltaMerge {

  /** What an entry takes besides its key and values, in its block and in [[GroupChanges]]. */
  private val EntryBytes = 100L

  /** Raw bytes of the blocks that are read with one request; the last may go beyond. */
  private val AtOnce = 256 * 1024L

  /** The runs of a file by family and group, and the blocks that were read last. */
  private final class Source(file: FileReader) {
    private val runs = mutable.Map.empty[String, mutable.Map[Int, GroupRun]]
    for (run <- file.footer.groups) {
      runs.getOrElseUpdate(nameIn(file.footer, run), mutable.Map.empty).put(run.group, run)
    }
    private var blocks = Seq.empty[BlockEntries]
    private var firstIndex = 0
    private var block: BlockEntries = _
    private var blockIndex = -1

    def groupsOf(family: String): Iterable[Int] =
      runs.get(family).fold(Iterable.empty[Int])(_.keys)

    def run(family: String, group: Int): Option[GroupRun] = runs.get(family).flatMap(_.get(group))

    def addTo(changes: GroupChanges, run: GroupRun): Unit = {
      enter(run.block)
      var entry = run.entry
      var left = run.entries
      while (left > 0) {
        if (entry == block.size) {
          enter(blockIndex + 1)
          entry = 0
        }
        changes.add(block, entry)
        entry += 1
        left -= 1
      }
    }

    private def enter(index: Int): Unit = if (index != blockIndex) {
      if (!blocks.indices.contains(index - firstIndex)) {
        blocks = file.blocks(index until behind(index))
        firstIndex = index
      }
      block = blocks(index - firstIndex)
      blockIndex = index
    }

    /** One past the last block that is read with this one. */
    private def behind(index: Int): Int = {
      var bytes = 0L
      var until = index
      while (until < file.footer.blocks.size && bytes < AtOnce) {
        bytes += file.footer.blocks(until).rawLength
        until += 1
      }
      until
    }
  }

  private def nameIn(footer: Footer, run: GroupRun) = footer.families(run.family).spec.name
}
