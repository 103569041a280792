package io.keyfold.store

/** Which store this is, and so where its files are. */
final case class StoreLocation(operator: Long, partition: Int, store: String) {

  /** Folder of the store's files, relative to the checkpoint's `state` folder. */
  val folder: String =
    if (store == StoreLocation.DefaultStore) s"$operator/$partition"
    else s"$operator/$partition/$store"

  override def toString: String = s"operator $operator partition $partition store $store"
}

object StoreLocation {

  /** The name Spark gives the only store of a partition; it has no folder of its own. */
  val DefaultStore = "default"
}
