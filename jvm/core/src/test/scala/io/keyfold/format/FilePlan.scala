package io.keyfold.format

import java.io.ByteArrayOutputStream

import io.keyfold.format.Layout.EntryType
import io.keyfold.format.wire.Codec
import io.keyfold.group.GroupOrder
import io.keyfold.mem.Slice
import io.keyfold.model.{Family, FamilySpec, VersionId}
import io.keyfold.testkit.{Bytes, Entry}
import org.scalacheck.Gen

/** A file to be written: what goes into the writer, in the order it goes in.
  *
  * @param groups
  *   by family, then in file order; a group may have no entries
  * @param head
  *   only of a snapshot
  */
final case class FilePlan(
    kind: FileKind,
    codec: Codec,
    rowChecksums: Boolean,
    blockTarget: Int,
    identity: Identity,
    lineage: Seq[Ancestor],
    families: Seq[Family],
    dropped: Seq[String],
    groups: Seq[FilePlan.Group],
    head: Option[Fingerprint] = None,
    entryTarget: Int = Layout.EntryTarget
) {

  /** The bytes that the writer makes of it. */
  def write(): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val file = new FileWriter(out, kind, codec, rowChecksums, blockTarget, entryTarget)
    for (group <- groups) {
      file.startGroup(group.family, group.group)
      for (e <- group.entries) {
        val value = e.values.headOption.fold(new Slice)(_.slice)
        file.add(e.entryType, e.hash, e.key.slice, value)
        e.values.drop(1).foreach(value => file.addValue(e.hash, e.key.slice, value.slice))
      }
    }
    file.finish(identity, lineage, families, dropped, head = head)
    out.toByteArray
  }

  def name: String = kind.nameOf(identity.version)

  def groupsWithEntries: Seq[FilePlan.Group] = groups.filter(_.entries.nonEmpty)

  /** Raw bytes that an entry adds to its block: docs/FORMAT.md, section 3.3. */
  def rawBytes(e: Entry): Int =
    13 + 4 * e.values.length + (if (rowChecksums) 4 else 0) + FilePlan.rowBytes(e)
}

object FilePlan {
  final case class Group(family: Int, group: Int, entries: Seq[Entry])

  /** Bytes of an entry's key and values. */
  def rowBytes(e: Entry): Int = e.key.length + e.values.map(_.length).sum

  val genVersion: Gen[VersionId] = for {
    version <- Gen.choose(1L, Long.MaxValue)
    id <- Gen.oneOf(Gen.const(""), Gen.uuid.map(_.toString))
  } yield VersionId(version, id)

  /** Any text, of any script, that fits a `str`. */
  val genText: Gen[String] = Gen.oneOf(
    Gen.alphaNumStr,
    Gen.listOf(Gen.oneOf("a", "ß", "键", "\u0000", "🔑", "_", "/", ".")).map(_.mkString)
  )

  def genIdentity(version: VersionId, keyGroups: Int): Gen[Identity] = for {
    operator <- Gen.oneOf(Gen.choose(0L, 5L), Gen.choose(0L, Long.MaxValue))
    partition <- Gen.choose(0, Int.MaxValue - 1)
    store <- genText.map(text => "s" + text.filterNot(c => c < ' ' || c == '/'))
    partitions <- Gen.oneOf(Gen.const(0), Gen.choose(partition + 1, Int.MaxValue))
    created <- Gen.choose(Long.MinValue, Long.MaxValue)
    writer <- genText
  } yield Identity(version, operator, partition, store, partitions, keyGroups, created, writer)

  val genFingerprint: Gen[Fingerprint] = for {
    length <- Gen.choose(Long.MinValue, Long.MaxValue)
    checksum <- Gen.choose(Int.MinValue, Int.MaxValue)
  } yield Fingerprint(length, checksum)

  /** A kind of file with blocks that the version may have. */
  def genKind(version: VersionId): Gen[FileKind] =
    if (version.id.isEmpty || version.version == 1) Gen.oneOf(FileKind.Delta, FileKind.Snapshot)
    else {
      Gen.frequency(
        1 -> FileKind.Delta,
        1 -> FileKind.Snapshot,
        1 -> Gen.choose(1L, version.version - 1).map(FileKind.Merged(_))
      )
    }

  val genAncestor: Gen[Ancestor] = for {
    version <- genVersion
    kind <- Gen.oneOf(genKind(version), Gen.const(FileKind.Reference))
  } yield Ancestor(version, kind)

  /** The ancestors as a lineage: without a gap, down from a version, none below version 1. A merged
    * delta is of two versions, and not the last.
    */
  private def below(version: VersionId, ancestors: Seq[Ancestor]): Seq[Ancestor] = {
    val count = math.min(ancestors.length.toLong, version.version - 1)
    var at = version.version
    val found = ancestors.take(count.toInt).map { case Ancestor(VersionId(_, id), kind) =>
      at -= 1
      val isMerged = kind.base.isDefined && at > 2
      val here = Ancestor(VersionId(at, id), if (isMerged) FileKind.Merged(at - 2) else plain(kind))
      if (isMerged) at -= 1
      here
    }
    val whole = found.takeWhile(_.version.version > 0)
    whole.dropRight(1) ++ whole.lastOption.map(it => it.copy(kind = plain(it.kind)))
  }

  private def plain(kind: FileKind) = if (kind.base.isDefined) FileKind.Delta else kind

  def genFamily(multiValue: Gen[Boolean]): Gen[Family] = for {
    name <- genText
    internal <- Gen.oneOf(true, false)
    multi <- multiValue
    ordered <- Gen.oneOf(true, false)
    key <- Gen.oneOf("row", "prefix:2", "range:0,3", "timestampPostfix", "timestampPrefix")
    row <- Gen.oneOf("unsaferow", "avro")
    partitionKey <- Gen.oneOf("all", "first:1", "path:0.1", "constant", "none")
    keySchema <- Gen.choose(Int.MinValue, Int.MaxValue)
    valueSchema <- Gen.choose(Int.MinValue, Int.MaxValue)
    strays <- Gen.oneOf(true, false)
    rescaled <- Gen.oneOf(true, false)
    keys <- Gen.choose(-1L, Layout.MaxAmount)
    values <- Gen.choose(-1L, Layout.MaxAmount)
    bytes <- Gen.choose(-1L, Layout.MaxAmount)
  } yield Family(
    FamilySpec(
      name,
      internal,
      multi,
      ordered,
      key,
      row,
      partitionKey,
      keySchema,
      valueSchema,
      strays,
      rescaled
    ),
    keys,
    values,
    bytes
  )

  /** So many families, each with a name of its own. */
  def genFamilies(count: Int): Gen[Seq[Family]] =
    Gen
      .listOfN(count, genFamily(multiValue = Gen.oneOf(true, false)))
      .map(_.zipWithIndex.map { case (family, i) =>
        family.copy(spec = family.spec.copy(name = s"$i${family.spec.name}"))
      })

  /** Entries of a key group; no key twice. */
  private def genEntries(
      kind: FileKind,
      group: Int,
      keyGroups: Int,
      multiValue: Boolean
  ): Gen[Seq[Entry]] = {
    val entry = for {
      near <- Gen.choose(-2000000000, 2000000000)
      key <- Bytes.gen(20)
      value <- Bytes.gen(40)
      more <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, Bytes.gen(20)))
      isRemove <- Gen.frequency(3 -> false, 1 -> kind.isChange)
      isAppend <- Gen.oneOf(false, kind.isChange)
    } yield {
      val hash = near - Math.floorMod(near, keyGroups) + group
      if (isRemove) Entry(EntryType.Remove, hash, key, Nil)
      else if (!multiValue) Entry(EntryType.Put, hash, key, Seq(value))
      else Entry(if (isAppend) EntryType.Append else EntryType.Put, hash, key, value :: more)
    }
    Gen.choose(0, 8).flatMap(Gen.listOfN(_, entry)).map(_.distinctBy(_.key))
  }

  private def genGroups(
      kind: FileKind,
      families: Seq[Family],
      keyGroups: Int
  ): Gen[Seq[Group]] = {
    val order = new GroupOrder(1, keyGroups)
    val places = for {
      family <- families.indices
      group <- order.sorted((0 until keyGroups).toArray)
    } yield (family, group)
    for {
      chosen <- Gen.someOf(places)
      inOrder = places.filter(chosen.toSet)
      entries <- Gen.sequence[Seq[Seq[Entry]], Seq[Entry]](
        inOrder.map { case (family, group) =>
          genEntries(kind, group, keyGroups, families(family).spec.multiValue)
        }
      )
    } yield inOrder.zip(entries).map { case ((family, group), es) => Group(family, group, es) }
  }

  /** Delta, merged delta and snapshot files of a few hundred bytes mostly. */
  val gen: Gen[FilePlan] = for {
    version <- genVersion
    kind <- genKind(version)
    codec <- Gen.oneOf(Codec.Plain, Codec.Zstandard, Codec.Lz4)
    rowChecksums <- Gen.oneOf(true, false)
    blockTarget <- Gen.oneOf(1, 50, 100, 200, 500, Layout.BlockTarget)
    keyGroups <- Gen.oneOf(1, 2, 6, 12)
    identity <- genIdentity(version, keyGroups)
    ancestors <- Gen.listOf(genAncestor)
    count <- Gen.choose(1, 3)
    families <- genFamilies(count)
    dropped <- if (kind.isChange) Gen.listOf(genText) else Gen.const(Nil)
    groups <- genGroups(kind, families, keyGroups)
    head <- Gen.option(genFingerprint)
  } yield FilePlan(
    kind,
    codec,
    rowChecksums,
    blockTarget,
    identity,
    below(version, ancestors),
    families,
    dropped,
    groups,
    head.filter(_ => kind == FileKind.Snapshot)
  )
}
