package io.keyfold.store.merge

import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.model.VersionId
import io.keyfold.store.file.Lineage
import org.scalatest.funsuite.AnyFunSuite

class MergePlanSuite extends AnyFunSuite {

  private def delta(version: Long, bytes: Long = 10) = (version, FileKind.Delta, bytes)
  private def merged(version: Long, base: Long, bytes: Long) =
    (version, FileKind.Merged(base), bytes)
  private def snapshot(version: Long, bytes: Long = 1000) = (version, FileKind.Snapshot, bytes)

  private def lineage(files: (Long, FileKind, Long)*) = Lineage(
    files.map { case (version, kind, _) => Ancestor(id(version), kind) }.toList,
    files.map { case (version, _, bytes) => id(version) -> bytes }.toMap
  )

  private def id(version: Long) = VersionId(version, s"a$version")

  private def chosen(lineage: Lineage, most: Int = 10, share: Double = 0.5) =
    MergePlan.of(lineage, most, share).map(_.map(_.version.version))

  test("deltas are merged with the merged deltas below them that are smaller than they are") {
    val small = Seq(delta(9), delta(8), merged(7, 5, 18))
    assert(chosen(lineage(small :+ merged(5, 3, 35) :+ snapshot(3): _*)).contains(Seq(9, 8, 7)))
    assert(chosen(lineage(small :+ merged(5, 3, 34) :+ snapshot(3): _*)).contains(Seq(9, 8, 7, 5)))
    assert(
      chosen(lineage(delta(9), delta(8), merged(7, 5, 20), snapshot(5))).contains(Seq(9, 8))
    )
  }

  test("all but two of the files of a load stay merged deltas at most, however large they are") {
    val large = (0 to 7).map(i => merged(19L - i, 18L - i, math.pow(10, i + 2).toLong))
    val files = large :+ snapshot(11, 10000000000L)
    assert(chosen(lineage(delta(20) +: files: _*)).contains(Seq(20, 19)))
    assert(chosen(lineage(delta(20) +: files.drop(1): _*)).exists(_.lengthIs == 1))
  }

  test("a snapshot is due once the files above the last one have their share of its bytes") {
    def of(above: Long) = chosen(lineage(delta(9, above - 100), delta(8, 100), snapshot(7)))
    assert(of(499).contains(Seq(9, 8)))
    assert(of(500).isEmpty)
  }

  test("of 200 partitions that change alike, few are due for a snapshot at the same time") {
    val due = (0 until 200).map { partition =>
      (1 to 1000).find { bytes =>
        val changed = lineage(delta(9, bytes.toLong), delta(8, 0), snapshot(7))
        chosen(changed, share = 0.5 * MergePlan.spread(partition)).isEmpty
      }.get
    }
    assert(due.min >= 375 && due.max <= 625)
    // In a tenth of the time it would be 20 at least.
    assert(due.groupBy(_ / 25).values.forall(_.size <= 26))
  }

  test("a snapshot is due sooner if the state has shrunk since the last one") {
    val changed = lineage(delta(9, 100), delta(8, 100), snapshot(7)).copy(snapshotRows = 1000)
    assert(chosen(changed.copy(rows = 401)).isDefined)
    assert(chosen(changed.copy(rows = 400)).isEmpty)
    assert(chosen(changed.copy(rows = 5000)).isDefined)
  }

  test("a snapshot is due if there is none to build on, or versions have no ids") {
    assert(chosen(lineage(delta(2), delta(1))).isEmpty)
    assert(chosen(lineage(delta(3), (2L, FileKind.Reference, 10L))).isEmpty)
    val noIds = Lineage(
      List(3L -> FileKind.Delta, 2L -> FileKind.Delta, 1L -> FileKind.Snapshot).map {
        case (version, kind) => Ancestor(VersionId(version), kind)
      },
      Map(VersionId(1) -> 1000L)
    )
    assert(chosen(noIds).isEmpty)
  }

  test("there is nothing to merge below a version that has a merged delta, nor with one delta") {
    assert(chosen(lineage(merged(9, 8, 10), merged(8, 7, 10), snapshot(7))).contains(Nil))
    assert(chosen(lineage(delta(9), snapshot(8))).exists(_.lengthIs < 2))
  }
}
