package io.keyfold.format

import io.keyfold.format.wire.Codec
import io.keyfold.model.{Family, VersionId}

/** The contents of a footer: docs/FORMAT.md, section 4.
  *
  * @param head
  *   in a snapshot that names it: the delta or reference whose version the snapshot holds
  * @param continued
  *   number of entries that continue the one before them
  * @param base
  *   of a merged delta: number of the version that it is applied to
  */
final case class Footer(
    identity: Identity,
    lineage: Seq[Ancestor],
    families: Seq[Family],
    dropped: Seq[String],
    blocks: IndexedSeq[Block],
    groups: IndexedSeq[GroupRun],
    references: Option[References],
    head: Option[Fingerprint] = None,
    continued: Int = 0,
    base: Option[Long] = None
)

/** Distinguishes a file from others of its name.
  *
  * @param length
  *   of the file in bytes
  * @param checksum
  *   the one in the trailer, which covers the footer and so all other checksums
  */
final case class Fingerprint(length: Long, checksum: Int)

/** Identity of a file.
  *
  * @param partitions
  *   N, 0 if the writer did not know it
  * @param keyGroups
  *   G
  * @param createdMs
  *   the writer's wall clock, milliseconds since 1970; informational only
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

/** One element of a lineage: a version that this one builds on, and the kind of file to read for
  * it.
  */
final case class Ancestor(version: VersionId, kind: FileKind)

/** A block and its place. `family` is an index into the footer's families. */
final case class Block(
    family: Int,
    codec: Codec,
    offset: Long,
    storedLength: Int,
    rawLength: Int,
    entries: Int,
    checksum: Int
)

/** A key group's run: `entries` entries, starting at entry `entry` of block `block`. */
final case class GroupRun(
    family: Int,
    group: Int,
    block: Int,
    entry: Int,
    entries: Int,
    bytes: Long
)

/** The files that a rescale put a version together from, as its manifest lists them.
  *
  * @param parts
  *   the places of the layers in the plan's manifest, oldest first: docs/FORMAT.md, section 11
  */
final case class References(planId: String, parts: Seq[ManifestPart])

/** The place of a part in a manifest. */
final case class ManifestPart(
    offset: Long,
    codec: Codec,
    storedLength: Int,
    rawLength: Int,
    checksum: Int
)

/** A file in a manifest.
  *
  * @param path
  *   relative to the checkpoint
  * @param length
  *   of the file in bytes, when the manifest was made
  */
final case class FileReference(
    path: String,
    kind: FileKind,
    version: VersionId,
    length: Long
) {

  /** Whether the file may be replaced by one with the same rows in other bytes: each executor that
    * has the version in memory may write its snapshot or merge its deltas, and the id tells which
    * rows these are.
    */
  def mayBeWrittenAgain: Boolean = kind != FileKind.Delta && version.id.nonEmpty
}
