package io.keyfold.map

import java.nio.charset.StandardCharsets.UTF_8

import io.keyfold.group.KeyGroups
import io.keyfold.mem.Slice
import io.keyfold.model.{FamilySpec, VersionId}
import org.scalatest.Assertions

/** A [[StateMap]] in terms of texts. Family 0 is `default`, and keys of one length share a hash. */
private[map] trait StateMapTexts { this: Assertions =>
  protected val keyGroups = 6
  protected val v1 = VersionId(1)
  protected val v2 = VersionId(2)
  protected val v3 = VersionId(3)

  protected val hashed =
    FamilySpec("default", false, false, ordered = false, "row", "unsaferow", "all", 0, 0)
  protected val ordered =
    FamilySpec("ordered", false, false, ordered = true, "range:0", "unsaferow", "all", 0, 0)

  protected val lists: FamilySpec = hashed.copy(name = "lists", multiValue = true)
  protected val orderedLists: FamilySpec =
    ordered.copy(name = "ordered lists", multiValue = true)

  protected def slice(text: String): Slice = new Slice().set(text.getBytes(UTF_8))

  protected def text(slice: Slice): String = new String(slice.toArray, UTF_8)

  /** Keys of one length share a hash. */
  protected def hashOf(key: String): Int = key.length * 1000003 - 3000000

  protected def groupOf(key: String): Int = KeyGroups.groupOf(hashOf(key), keyGroups)

  protected def put(txn: MapTxn, key: String, value: String, family: Int = 0): Unit =
    txn.put(family, hashOf(key), slice(key), slice(value))

  protected def append(txn: MapTxn, key: String, value: String, family: Int = 0): Unit =
    txn.append(family, hashOf(key), slice(key), slice(value))

  protected def remove(txn: MapTxn, key: String, family: Int = 0): Boolean =
    txn.remove(family, hashOf(key), slice(key))

  protected def valueOf(view: MapView, key: String, family: Int = 0): Option[String] = {
    val value = new Slice
    if (view.get(family, hashOf(key), slice(key), value)) Some(text(value)) else None
  }

  /** Values of a key; none if it is not there. */
  protected def valuesOf(view: MapView, key: String, family: Int): Seq[String] = {
    val cursor = view.values(family, hashOf(key), slice(key))
    if (cursor.next()) valuesOf(cursor) else Nil
  }

  /** Values of the row that a cursor has come to. */
  protected def valuesOf(cursor: RowCursor): Seq[String] = {
    val found = Seq.newBuilder[String]
    found += text(cursor.value)
    while (cursor.nextValue()) found += text(cursor.value)
    found.result()
  }

  protected def rows(cursor: RowCursor): Seq[(String, String)] = {
    val found = Seq.newBuilder[(String, String)]
    while (cursor.next()) {
      assert(cursor.hash == hashOf(text(cursor.key)))
      found += text(cursor.key) -> text(cursor.value)
    }
    found.result()
  }

  protected def asMap[V](found: Seq[(String, V)]): Map[String, V] = {
    assert(found.map(_._1).distinct.length == found.length, "a key is there twice")
    found.toMap
  }

  protected def allRows(view: MapView, family: Int = 0): Map[String, String] =
    asMap(rows(view.scan(family)))

  /** Changes of a family: the new value of a key, or nothing when it is gone. */
  protected def changes(txn: MapTxn, family: Int = 0): Map[String, Option[String]] = {
    val found = Seq.newBuilder[(String, Option[String])]
    for (group <- txn.changedGroups(family)) {
      val change = txn.changes(family, group)
      while (change.next()) {
        val key = text(change.key)
        assert(change.hash == hashOf(key))
        assert(groupOf(key) == group)
        found += key -> (if (change.removed) None else Some(text(change.value)))
      }
    }
    asMap(found.result())
  }

  /** Runs a transaction that is given up unless `body` commits it. Family 0 is `default`. */
  protected def writing[T](map: StateMap, base: VersionId)(body: MapTxn => T): T = {
    val txn = map.begin(base)
    try {
      if (txn.familyIndex("default") < 0) txn.createFamily(hashed)
      body(txn)
    } finally {
      txn.abort()
      txn.release()
    }
  }

  protected def commit(map: StateMap, base: VersionId, version: VersionId)(
      body: MapTxn => Any
  ): Unit =
    writing(map, base) { txn =>
      body(txn)
      txn.commit(version)
    }

  protected def viewing[T](map: StateMap, version: VersionId)(body: MapView => T): T = {
    val view = map.pin(version)
    try body(view)
    finally view.release()
  }

  protected def rowsOf(map: StateMap, version: VersionId): Map[String, String] =
    viewing(map, version)(allRows(_))
}
