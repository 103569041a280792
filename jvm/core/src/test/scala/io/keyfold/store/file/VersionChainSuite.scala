package io.keyfold.store.file

import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

/** Which files are read for a version, given those that are there. */
class VersionChainSuite extends AnyFunSuite {
  import FileKind.{Delta, Merged, Reference, Snapshot}

  private def at(version: Long, kind: FileKind = Delta) =
    Ancestor(VersionId(version, s"a$version"), kind)

  /** Deltas of versions, newest first. */
  private def deltas(from: Long, to: Long) = (from to to by -1L).map(at(_)).toList

  /** @param lineages
    *   of the heads that are there, with the head
    * @param ofMerged
    *   lineages in merged deltas
    */
  private class Files(
      tiers: Set[Ancestor],
      lineages: Map[Long, List[Ancestor]] = Map.empty,
      ofMerged: Map[Ancestor, List[Ancestor]] = Map.empty
  ) extends VersionChain.Tiers {
    override def hasSnapshot(here: Ancestor): Boolean = tiers(here.copy(kind = Snapshot))
    override def merged(here: Ancestor): Seq[FileKind] =
      tiers.toSeq.filter(_.version == here.version).map(_.kind).filter(_.base.isDefined)
    override def lineageIn(merged: Ancestor): List[Ancestor] = ofMerged.getOrElse(merged, Nil)
    override def lineageBelow(here: Ancestor): List[Ancestor] =
      lineages.getOrElse(here.version.version, Nil)
  }

  private def chain(lineage: List[Ancestor], files: VersionChain.Tiers) =
    VersionChain.of(lineage, files).map(found => found.start.toList ++ found.changes)

  private val bottom = at(10, Snapshot)
  private val recorded = deltas(40, 11) :+ bottom

  test("of several merged deltas the one with the smallest base is read") {
    val files = new Files(Set(bottom, at(40, Merged(34)), at(40, Merged(12)), at(34, Merged(10))))
    assert(chain(recorded, files).contains(List(bottom, at(11), at(12), at(40, Merged(12)))))
  }

  test("a merged delta is not read if its base is none of the lineage's versions") {
    val lineage = List(at(40), at(30, Merged(10)), bottom)
    val files = new Files(Set(bottom, at(40, Merged(20)), at(30, Merged(10))))
    assert(chain(lineage, files).contains(List(bottom, at(30, Merged(10)), at(40))))
  }

  test("if nothing else gives the version, a merged delta is read on what its own lineage has") {
    // Another executor, which knew 40 to 21, has merged 45 on 38, and deleted what it did not need.
    val lineage = List(at(46), at(45), at(40, Merged(10)), bottom)
    val merged = at(45, Merged(38))
    val there = Set(bottom, merged, at(38, Merged(10)))
    val own = Map(merged -> (merged :: deltas(44, 39) ++ List(at(38, Merged(10)), bottom)))
    assert(chain(lineage, new Files(there)).isEmpty)
    val expected = List(bottom, at(38, Merged(10)), merged, at(46))
    assert(chain(lineage, new Files(there, ofMerged = own)).contains(expected))
  }

  test("a merged delta is not read if nothing gives its base") {
    val lineage = deltas(40, 31) ++ List(at(30, Merged(10)), bottom)
    val there = Set(bottom, at(40, Merged(30)), at(40, Merged(34)), at(34, Merged(31)))
    assert(chain(lineage, new Files(there)).isEmpty)
    val finer = Map(31L -> (deltas(31, 25) :+ at(24, Snapshot)))
    val more = there + at(24, Snapshot) + at(31, Merged(24))
    val files = new Files(more - bottom, finer)
    assert(chain(lineage, files).isEmpty, "31 has something below it in this lineage")
    val ends = deltas(40, 31)
    val expected =
      List(at(24, Snapshot), at(31, Merged(24)), at(34, Merged(31)), at(40, Merged(34)))
    assert(chain(ends, files).contains(expected))
  }

  test("of two merged deltas the one whose base is there is read") {
    val lineage = deltas(40, 31) ++ List(at(30, Merged(10)), bottom)
    val there = Set(bottom, at(40, Merged(30)), at(40, Merged(34)), at(34, Merged(10)))
    val expected = List(bottom, at(34, Merged(10)), at(40, Merged(34)))
    assert(chain(lineage, new Files(there)).contains(expected))
  }

  test("what a snapshot was made of is read in its place, merged deltas of its version too") {
    val lineage = List(at(41), at(40, Snapshot))
    val made = Map(40L -> (deltas(40, 35) ++ List(at(34, Merged(10)), bottom)))
    val files = new Files(Set(bottom, at(40, Merged(34)), at(34, Merged(10))), made)
    val expected = List(bottom, at(34, Merged(10)), at(40, Merged(34)), at(41))
    assert(chain(lineage, files).contains(expected))
  }

  test("a version that a rescale wrote, or version 1, needs nothing below it") {
    val reference = at(3, Reference)
    assert(chain(List(at(4), reference), new Files(Set.empty)).contains(List(reference, at(4))))
    assert(chain(deltas(2, 1), new Files(Set.empty)).contains(List(at(1), at(2))))
  }
}
