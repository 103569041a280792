package io.keyfold.format

/** The constants of docs/FORMAT.md. */
object Layout {
  val FormatVersion = 1

  val HeaderMagic: Array[Byte] = "KFLD".getBytes("US-ASCII")
  val TrailerMagic: Array[Byte] = "DLFK".getBytes("US-ASCII")
  val HeaderLength = 16
  val HeaderChecksumAt = 12
  val TrailerLength = 32

  /** Offsets of the trailer's copy of header fields, and of its checksum. */
  val TrailerCopyAt = 18
  val TrailerChecksumAt = 24

  /** Header flag: every entry carries a checksum of key and values. The other bits are reserved. */
  val RowChecksumsFlag = 1

  /** Kind in the header of a manifest, which is not a file of a store. */
  val ManifestKind = 4

  object Section {
    val Identity = 1
    val Lineage = 2
    val Families = 3
    val Dropped = 4
    val Blocks = 5
    val Groups = 6
    val Parts = 7
    val Head = 8
    val Continued = 9
    val Base = 10

    /** Section flag: a reader that does not know this section must refuse the file. */
    val Required = 1
  }

  object FamilyFlag {
    val Internal = 1
    val MultiValue = 2
    val Ordered = 4
    val Strays = 8
    val Rescaled = 16
    val All: Int = Internal | MultiValue | Ordered | Strays | Rescaled
  }

  object EntryType {
    val Put = 1
    val Append = 2
    val Remove = 3
  }

  /** Maximum ratio of raw to stored bytes of a footer, which bounds its size in memory. */
  val MaxFooterRatio = 1024L

  /** Maximum number of rows or bytes of a family or a key group, so that sums over all partitions
    * do not overflow.
    */
  val MaxAmount: Long = (1L << 47) - 1

  /** Minimum bytes of an entry in a block, and bytes before the first entry. */
  val EntryBytes = 13
  val BlockHeadBytes = 8

  /** Raw bytes at which a block is closed, between groups. */
  val BlockTarget: Int = 64 * 1024

  /** Raw bytes of an entry at which the further values of its row go into an entry of their own, so
    * that no list is too large for a block.
    */
  val EntryTarget: Int = 4 * 1024 * 1024

  /** From this file position on, a block ends where a later rescale is likely to separate its
    * groups.
    */
  val SplitTarget: Int = 16 * 1024
}
