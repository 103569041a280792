package io.keyfold.map.cursor

import io.keyfold.mem.Slice

/** The keys of a family in one version. */
private[map] trait KeySet {

  /** @param hash
    *   the row's partition hash, which gives its key group
    */
  def contains(hash: Int, key: Slice): Boolean
}
