package io.keyfold.model

/** What stays the same of a column family over the versions.
  *
  * @param keyEncoding
  *   what the bytes of a key are, docs/FORMAT.md section 5
  * @param partitionKey
  *   which key columns the hash covers
  */
final case class FamilySpec(
    name: String,
    internal: Boolean,
    multiValue: Boolean,
    ordered: Boolean,
    keyEncoding: String,
    rowEncoding: String,
    partitionKey: String,
    keySchemaId: Int,
    valueSchemaId: Int
) {

  /** Whether rows of one may be put as they are where those of the other are kept. */
  def isKeptAs(other: FamilySpec): Boolean =
    keyEncoding == other.keyEncoding && rowEncoding == other.rowEncoding &&
      ordered == other.ordered && multiValue == other.multiValue &&
      partitionKey == other.partitionKey
}

/** A column family of a version, with how much it holds in that version.
  *
  * @param keys
  *   rows
  * @param values
  *   values, the same as keys unless multi-value
  * @param bytes
  *   bytes of all keys and values
  */
final case class Family(spec: FamilySpec, keys: Long, values: Long, bytes: Long)
