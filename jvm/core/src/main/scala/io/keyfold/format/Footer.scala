package io.keyfold.format

import io.keyfold.format.wire.Codec
import io.keyfold.errors.CorruptFile
import io.keyfold.group.Selection
import io.keyfold.model.{Family, VersionId}

/** What a file says of itself: docs/FORMAT.md, section 4.
  *
  * @param head
  *   in a snapshot, as far as it says so: the delta or reference whose version it holds
  */
final case class Footer(
    identity: Identity,
    lineage: Seq[Ancestor],
    families: Seq[Family],
    dropped: Seq[String],
    blocks: IndexedSeq[Block],
    groups: IndexedSeq[GroupRun],
    references: Option[References],
    head: Option[Fingerprint] = None
)

/** What tells a file from others of its name.
  *
  * @param length
  *   of the file in bytes
  * @param checksum
  *   in its trailer: of the footer, which has those of all else
  */
final case class Fingerprint(length: Long, checksum: Int) {

  /** Whether a snapshot that was made of the delta or reference with this fingerprint counts, by
    * what is there now: docs/FORMAT.md, rule R8.
    *
    * @param openIfThere
    *   opens the version's file of a kind
    * @return
    *   true also if that file is damaged: it tells nothing
    */
  def isOfHead(openIfThere: FileKind => Option[FileReader]): Boolean =
    try {
      Iterator(FileKind.Delta, FileKind.Reference).flatMap(openIfThere).nextOption().forall {
        head =>
          try head.fingerprint == this
          finally head.close()
      }
    } catch { case _: CorruptFile => true }
}

/** Whose file this is.
  *
  * @param partitions
  *   N, 0 when the writer did not know it
  * @param keyGroups
  *   G
  * @param createdMs
  *   the writer's wall clock, milliseconds since 1970; for people only
  */
final case class Identity(
    version: VersionId,
    operator: Long,
    partition: Int,
    store: String,
    partitions: Int,
    keyGroups: Int,
    createdMs: Long,
    writer: String
)

/** One element of a lineage: a version this one builds on, and the kind of file to start from. */
final case class Ancestor(version: VersionId, kind: FileKind)

/** A block and where it is. `family` is an index into the footer's families. */
final case class Block(
    family: Int,
    codec: Codec,
    offset: Long,
    storedLength: Int,
    rawLength: Int,
    entries: Int,
    checksum: Int
)

/** A key group's entries: `entries` of them from entry `entry` of block `block` on. */
final case class GroupRun(
    family: Int,
    group: Int,
    block: Int,
    entry: Int,
    entries: Int,
    bytes: Long
)

/** The files that a version was put together from by a rescale.
  *
  * @param files
  *   where an earlier release has written the reference
  * @param parts
  *   else where the plan's manifest has the layers, oldest first: docs/FORMAT.md, section 11
  */
final case class References(
    planId: String,
    files: Seq[FileReference],
    parts: Seq[ManifestPart] = Nil
)

/** Where a part of a manifest is. */
final case class ManifestPart(
    offset: Long,
    codec: Codec,
    storedLength: Int,
    rawLength: Int,
    checksum: Int
)

/** What to take from another file.
  *
  * @param path
  *   relative to the checkpoint's `state` folder
  * @param length
  *   of the file in bytes
  */
final case class FileReference(
    path: String,
    kind: FileKind,
    version: VersionId,
    length: Long,
    taken: Selection
)
