package io.keyfold.format

import io.keyfold.errors.StoreError
import io.keyfold.format.Layout.EntryType
import io.keyfold.format.wire.Codec
import io.keyfold.model.{Family, FamilySpec, VersionId}
import io.keyfold.testkit.{Bytes, Entry, FileContents, MemoryBlobStore}
import org.scalatest.Assertions

/** A file to be damaged, and what a reader makes of it then. */
private[format] trait DamagedFiles { this: Assertions =>
  private val name = "5.snapshot"

  /** A file of two families, five groups and four blocks. */
  protected def fileOf(
      codec: Codec,
      rowChecksums: Boolean,
      value: String = "0102030405060708"
  ): Array[Byte] = {
    def family(name: String) = Family(
      FamilySpec(name, false, false, false, "row", "unsaferow", "all", 0, 0),
      keys = 8,
      values = 8,
      bytes = 400
    )
    def group(family: Int, number: Int, count: Int) = FilePlan.Group(
      family,
      number,
      (1 to count).map { i =>
        val key = Bytes(f"$number%08x$i%08x")
        Entry(EntryType.Put, number + 6 * i, key, Seq(Bytes(value * 5)))
      }
    )
    FilePlan(
      FileKind.Snapshot,
      codec,
      rowChecksums,
      blockTarget = 150,
      Identity(VersionId(5), 0, 0, "default", 1, 6, 1700000000000L, "test"),
      Seq(Ancestor(VersionId(4), FileKind.Delta), Ancestor(VersionId(3), FileKind.Snapshot)),
      Seq(family("default"), family("other")),
      dropped = Nil,
      Seq(group(0, 0, 2), group(0, 2, 1), group(0, 1, 4), group(1, 4, 1), group(1, 3, 2))
    ).write()
  }

  protected def read(bytes: Array[Byte]): FileContents = {
    val blobs = new MemoryBlobStore
    blobs.put(name, bytes)
    FileContents.read(blobs, name)
  }

  /** What the bytes are read as, if they are not refused by a StoreError; fails for any other. */
  protected def readOrRefuse(bytes: Array[Byte], what: => String): Option[FileContents] =
    try Some(read(bytes))
    catch {
      case _: StoreError => None
      case e: Throwable  => fail(s"$e after $what", e)
    }
}
