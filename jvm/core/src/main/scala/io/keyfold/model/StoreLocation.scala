package io.keyfold.model

import io.keyfold.errors.Invalid

/** Identifies a store and its folder.
  *
  * @throws io.keyfold.errors.Invalid
  *   if the store's name cannot be a folder name: Spark's operator metadata may be damaged
  */
final case class StoreLocation(operator: Long, partition: Int, store: String) {
  if (!Names.isStore(store)) {
    throw new Invalid(
      "KEYFOLD_CHECKPOINT_DAMAGED",
      s"Cannot use '$store' as the name of a store of operator $operator: it would lead to another " +
        "folder. Restore the operator's metadata from a copy."
    )
  }

  /** Folder of the store's files, relative to the checkpoint. */
  val folder: String =
    if (store == StoreLocation.DefaultStore) s"${StoreLocation.State}/$operator/$partition"
    else s"${StoreLocation.State}/$operator/$partition/$store"

  override def toString: String = s"operator $operator partition $partition store $store"
}

object StoreLocation {

  /** Spark's folder of the state of all operators in a checkpoint. */
  val State = "state"

  /** Spark's name for the only store of a partition; it has no folder of its own. */
  val DefaultStore = "default"
}
