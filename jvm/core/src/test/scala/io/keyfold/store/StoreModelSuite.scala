package io.keyfold.store

import scala.collection.mutable

import io.keyfold.errors.StoreError
import io.keyfold.format.wire.Codec
import io.keyfold.model.{FamilySpec, VersionId}
import io.keyfold.store.file.RowChecksumSettings
import io.keyfold.testkit.SeededChecks
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite

/** Random lives of a store against a plain map per version. */
class StoreModelSuite extends AnyFunSuite with SeededChecks {
  import StoreFixture._
  import StoreModelSuite._

  for (ordered <- Seq(false, true)) {
    val kind = if (ordered) "ordered" else "hashed"

    test(s"$kind: every retained version loads as it was committed, over restarts and retries") {
      forEach(life(ordered, healthyStep), 500, fewer)(life => assert(new Run(life).isRight))
    }

    test(s"$kind: with damaged files a version loads as it was committed or is refused") {
      forEach(life(ordered, anyStep), 500, fewer)(life => assert(new Run(life).isRightOrRefused))
    }
  }

  private class Run(life: Life) {
    import life._

    private val fixture = new StoreFixture(
      settings = settings.copy(
        rowChecksums = Option.when(checksums)(RowChecksumSettings(2)),
        deltasPerSnapshot = filesPerMerge,
        snapshotAfterShare = if (merges) 1000 else 0.5
      ),
      family = family
    )
    private val committed = mutable.Map(0L -> new StoreModel(family))
    private val versions = mutable.Map(0L -> VersionId.Empty)
    private var attempts = 0
    private var store = fixture.open()
    private var newest = 0L

    def isRight: Boolean = {
      steps.foreach(step)
      retained.forall(v => fixture.loadedLists(versions(v)) == committed(v).rows) && feedIsRight
    }

    def isRightOrRefused: Boolean = {
      try steps.foreach(step)
      catch { case _: StoreError => () }
      retained.forall { v =>
        try fixture.loadedLists(versions(v)) == committed(v).rows
        catch { case _: StoreError => true }
      }
    }

    private def retained = math.max(1L, newest - settings.versionsToRetain) to newest

    /** What the feed says of each version, row by row, is what was done to the one before. */
    private def feedIsRight: Boolean = newest == 0 || {
      val feed = store.changes(retained.head, versions(newest), family.name)
      val found = mutable.Map.empty[Long, Vector[StoreModel.Record]].withDefaultValue(Vector())
      while (feed.next()) {
        val value = if (feed.removed) "" else text(feed.value)
        found(feed.version) :+= StoreModel.Record(
          text(feed.key),
          feed.removed,
          feed.appended,
          value
        )
      }
      feed.close()
      retained.forall(v => committed(v).mayHaveBeen(found(v)))
    }

    private def step(step: Step): Unit = step match {
      case Commit(changes) =>
        val (txn, model) = begin(changes)
        attempts += 1
        val version = txn.commit(if (ids) s"a$attempts" else "")
        txn.release()
        newest += 1
        versions(newest) = version
        committed(newest) = model
      case Abort(changes) => begin(changes)._1.release()
      case Retry(changes) =>
        if (newest > 0) {
          newest -= 1
          this.step(Commit(changes))
        }
      case Restart(codec) =>
        store.close()
        store = fixture.open(fixture.settings.copy(codec = codec))
      case Maintain =>
        store.snapshotIfDue()
        store.cleanup()
        ()
      case Damage(file, at) => damage(file, at)
    }

    private def begin(changes: List[StoreModel.Change]): (StoreTxn, StoreModel) = {
      val txn = store.begin(versions(newest))
      val model = changes.foldLeft(committed(newest).next)(_.after(txn, _))
      assert(lists(txn.scan(0)) == model.rows)
      for (key <- model.rows.keys) {
        val row = lists(txn.values(0, hash(key), slice(key)))
        assert(row == model.rows.filter(_._1 == key))
      }
      if (family.ordered) {
        val found = lists(txn.scanRange(0, slice("key10"), slice("key5")))
        assert(found == model.rows.filter { case (key, _) => key >= "key10" && key < "key5" })
      }
      (txn, model)
    }

    private def damage(file: Int, at: Int): Unit = {
      val paths = fixture.blobs.paths.filter(fixture.blobs.bytes(_).nonEmpty)
      if (paths.nonEmpty) {
        fixture.blobs.update(paths(file % paths.length)) { bytes =>
          if (at % 5 == 0) bytes.take(at % bytes.length)
          else {
            val i = at % bytes.length
            bytes(i) = (bytes(i) ^ 1 << at % 8).toByte
            bytes
          }
        }
      }
    }
  }
}

private object StoreModelSuite {
  import StoreFixture.rowFamily
  import StoreModel._

  sealed trait Step
  final case class Commit(changes: List[Change]) extends Step
  final case class Abort(changes: List[Change]) extends Step

  /** The newest version is committed again, on the one before it, as a failed batch is; or one that
    * has been built on already, as after a rollback.
    */
  final case class Retry(changes: List[Change]) extends Step
  final case class Restart(codec: Codec) extends Step
  case object Maintain extends Step
  final case class Damage(file: Int, at: Int) extends Step

  /** @param ids
    *   whether attempts have ids, as under checkpoint format v2
    * @param merges
    *   whether deltas are merged and seldom give way to a snapshot
    */
  final case class Life(
      family: FamilySpec,
      checksums: Boolean,
      ids: Boolean,
      merges: Boolean,
      filesPerMerge: Int,
      steps: List[Step]
  )

  val fewer: Shrink[Life] = Shrink { life =>
    Shrink.shrinkContainer[List, Step].shrink(life.steps).map(steps => life.copy(steps = steps))
  }

  private val key = Gen.choose(0, 12).map(i => s"key$i")
  private val value = Gen.choose(0, 99).map(_.toString)

  private val change: Gen[Change] = Gen.frequency(
    4 -> Gen.zip(key, value).map { case (k, v) => Put(k, v) },
    4 -> Gen.zip(key, value).map { case (k, v) => Append(k, v) },
    4 -> key.map(Remove(_)),
    1 -> Gen.zip(Gen.option(key), Gen.option(key)).map { case (s, e) => RemoveRange(s, e) },
    1 -> Gen.const(DropAll)
  )

  private val changes = Gen.choose(0, 8).flatMap(Gen.listOfN(_, change))

  val healthyStep: Gen[Step] = Gen.frequency(
    8 -> changes.map(Commit(_)),
    1 -> changes.map(Abort(_)),
    2 -> changes.map(Retry(_)),
    2 -> Gen.oneOf(Codec.all).map(Restart(_)),
    5 -> Gen.const(Maintain)
  )

  val anyStep: Gen[Step] = Gen.frequency(
    9 -> healthyStep,
    1 -> (for {
      file <- Gen.choose(0, 1000)
      at <- Gen.choose(1, 100000)
    } yield Damage(file, at))
  )

  def life(ordered: Boolean, step: Gen[Step]): Gen[Life] = for {
    multiValue <- Gen.oneOf(true, false)
    checksums <- Gen.oneOf(true, false)
    ids <- Gen.frequency(2 -> true, 1 -> false)
    merges <- Gen.oneOf(true, false)
    filesPerMerge <- Gen.choose(2, 8)
    steps <- Gen.listOf(step)
    family = rowFamily.copy(multiValue = multiValue, ordered = ordered)
  } yield Life(family, checksums, ids, merges, filesPerMerge, steps)
}
