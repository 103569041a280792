package io.keyfold.model

/** The properties of a column family. A later version may set the last two, and changes no other.
  *
  * @param keyEncoding
  *   format of key bytes, docs/FORMAT.md section 5
  * @param partitionKey
  *   the key columns that the hash covers
  * @param strays
  *   whether rows may be in another partition than their hash says: where Spark put them
  * @param rescaled
  *   whether a rescale has placed rows by their hash
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
    valueSchemaId: Int,
    strays: Boolean = false,
    rescaled: Boolean = false
) {

  /** What two families of one name must agree in, for messages. */
  def inWords: String = {
    val values = if (multiValue) "several values a key" else "one value a key"
    val order = if (ordered) "ordered by key" else "hashed"
    s"$values, $order, keys encoded as $keyEncoding, rows as $rowEncoding"
  }

  /** Whether rows of one family can be copied unchanged into the other. */
  def isKeptAs(other: FamilySpec): Boolean =
    keyEncoding == other.keyEncoding && rowEncoding == other.rowEncoding &&
      ordered == other.ordered && multiValue == other.multiValue &&
      partitionKey == other.partitionKey
}

/** A column family of a version, with its sizes in that version.
  *
  * @param keys
  *   number of rows
  * @param values
  *   number of values, the same as `keys` unless multi-value
  * @param bytes
  *   of all keys and values
  */
final case class Family(spec: FamilySpec, keys: Long, values: Long, bytes: Long)
