package io.keyfold.store

import io.keyfold.model.FamilySpec
import org.scalatest.Assertions

/** A version of a store as plain maps, and how it differs from the one before.
  *
  * @param cut
  *   keys whose rows this version has begun anew: that it put, or that were there and were removed
  */
private[store] final class StoreModel private (
    family: FamilySpec,
    before: StoreModel.Rows,
    val rows: StoreModel.Rows,
    cut: Set[String]
) extends Assertions {
  import StoreModel._

  def this(family: FamilySpec) = this(family, Map.empty, Map.empty, Set.empty)

  /** What the version after this one begins with. */
  def next: StoreModel = new StoreModel(family, rows, rows, Set.empty)

  /** Does a change, if the family allows it, to a transaction and to what is returned. */
  def after(txn: StoreTxn, change: Change): StoreModel = change match {
    case Put(key, value) =>
      StoreFixture.put(txn, key, value)
      new StoreModel(family, before, rows.updated(key, Vector(value)), cut + key)
    case Append(key, value) if family.multiValue =>
      StoreFixture.append(txn, key, value)
      val values = rows.getOrElse(key, Vector()) :+ value
      new StoreModel(family, before, rows.updated(key, values), cut)
    case Remove(key) =>
      assert(StoreFixture.remove(txn, key) == rows.contains(key))
      new StoreModel(family, before, rows - key, cutBy(Set(key)))
    case RemoveRange(start, end) if family.ordered =>
      val gone = rows.keys.filter(k => start.forall(_ <= k) && end.forall(_ > k))
      val bounds = Seq(start, end).map(_.map(StoreFixture.slice).orNull)
      assert(txn.removeRange(0, bounds.head, bounds(1)) == gone.size)
      new StoreModel(family, before, rows -- gone, cutBy(gone.toSet))
    case DropAll =>
      assert(txn.dropFamily(family.name))
      assert(txn.createFamily(family) == 0)
      // A feed does not tell the rows that went with the family.
      new StoreModel(family, Map.empty, Map.empty, Set.empty)
    case _ => this
  }

  private def cutBy(removed: Set[String]) = cut -- removed ++ removed.filter(before.contains)

  /** Whether a change feed may say this of the version: all of what has changed, of the rest what
    * was written to it as it was.
    */
  def mayHaveBeen(records: Vector[Record]): Boolean = {
    val must = (before.keySet ++ rows.keySet).filter(key => before.get(key) != rows.get(key))
    val found = records.groupBy(_.key)
    must.subsetOf(found.keySet) && found.forall { case (key, of) => of == recordsOf(key) }
  }

  private def recordsOf(key: String): Vector[Record] = {
    rows.get(key) match {
      case Some(values) if !cut(key) =>
        values
          .drop(before.get(key).fold(0)(_.length))
          .map(Record(key, removed = false, appended = true, _))
      case Some(values) =>
        values.indices.toVector.map(i => Record(key, removed = false, appended = i > 0, values(i)))
      case None if before.contains(key) =>
        Vector(Record(key, removed = true, appended = false, ""))
      case None => Vector()
    }
  }
}

private[store] object StoreModel {
  type Rows = Map[String, Vector[String]]

  sealed trait Change
  final case class Put(key: String, value: String) extends Change
  final case class Append(key: String, value: String) extends Change
  final case class Remove(key: String) extends Change
  final case class RemoveRange(start: Option[String], end: Option[String]) extends Change

  /** The family is dropped and made again. */
  case object DropAll extends Change

  /** A record of a change feed. */
  final case class Record(key: String, removed: Boolean, appended: Boolean, value: String)
}
