package io.keyfold.map.hash

import java.security.SecureRandom

import io.keyfold.mem.{Mem, Slice}

/** The key of the index hash, a secret of each map. Otherwise senders of rows could choose keys
  * that share one leaf of a [[HashTree]], which each look-up would scan.
  */
private[map] final class HashKey(key0: Long, key1: Long) {
  def hash(key: Slice): Int = (longHash(key) >>> 32).toInt

  def longHash(key: Slice): Long = Mem.hash(key.base, key.offset, key.length, key0, key1)
}

private[map] object HashKey {
  private val secrets = new SecureRandom

  /** Constant under [[Mem.Checks]], so that failures of tests can be repeated. */
  def next(): HashKey =
    if (Mem.Checks) new HashKey(0x243f6a8885a308d3L, 0x13198a2e03707344L) // digits of pi
    else new HashKey(secrets.nextLong(), secrets.nextLong())
}
