package io.keyfold.bench.engine

import scala.util.Random

import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.{Mem, Slice}
import io.keyfold.mem.page.PagePool
import io.keyfold.model.{FamilySpec, VersionId}

/** Rows of one partition in memory: a count by a number, both as UnsafeRow, 32 bytes. */
private[engine] final class EngineStore(pool: PagePool, partition: Int, partitions: Int) {
  import EngineStore._

  private val map = new ArenaMap(KeyGroups, pool)
  private val random = new Random(partition)
  private val keyBytes, valueBytes = new Array[Byte](16)
  private val key = new Slice().set(keyBytes)
  private val value = new Slice().set(valueBytes)
  private val found = new Slice
  private var version = 0L

  /** Nanoseconds of all batches since [[clear]]. */
  var getNs, putNs, commitNs = 0L

  /** Keeps the compiler from leaving out what is read. */
  private var sum = 0L

  def usedBytes: Long = map.memory.total - map.memory.free

  def clear(): Unit = {
    getNs = 0
    putNs = 0
    commitNs = 0
  }

  /** Puts keys 0 until `keys`. */
  def load(keys: Int): Unit =
    (0 until keys by LoadBatch).foreach { from =>
      batch(Array.range(from, math.min(from + LoadBatch, keys)))
    }

  /** Counts `rows` random keys of `keys`. */
  def count(keys: Int, rows: Int): Unit =
    batch(Array.fill(rows)(random.nextInt(keys)).distinct)

  private def batch(ids: Array[Int]): Unit = {
    val base = VersionId(version)
    val view = map.pin(base)
    val txn = map.begin(base)
    if (version == 0) txn.createFamily(Family)
    val counts = new Array[Long](ids.length)
    val start = System.nanoTime
    if (version > 0) {
      for (i <- ids.indices) {
        Mem.putLong(keyBytes, Mem.ArrayOffset + 8, ids(i).toLong)
        if (view.get(0, hashOf(ids(i)), key, found)) {
          counts(i) = Mem.getLong(found.base, found.offset + 8)
        }
      }
    }
    val read = System.nanoTime
    for (i <- ids.indices) {
      Mem.putLong(keyBytes, Mem.ArrayOffset + 8, ids(i).toLong)
      Mem.putLong(valueBytes, Mem.ArrayOffset + 8, counts(i) + 1)
      txn.put(0, hashOf(ids(i)), key, value)
    }
    val written = System.nanoTime
    for (group <- txn.changedGroups(0)) {
      val changes = txn.changes(0, group)
      while (changes.next())
        sum += changes.hash + Mem.getLong(changes.value.base, changes.value.offset)
    }
    version += 1
    txn.commit(VersionId(version))
    map.retain(_.version >= version - 1)
    txn.release()
    view.release()
    val committed = System.nanoTime
    getNs += read - start
    putNs += written - read
    commitNs += committed - written
  }

  /** Of this partition, and random otherwise. */
  private def hashOf(id: Int): Int =
    Math.floorMod(id * 0x9e3779b1 >>> 3, KeyGroups / partitions) * partitions + partition
}

private object EngineStore {
  private val KeyGroups = 5040
  private val LoadBatch = 250000

  private val Family = FamilySpec(
    "default",
    internal = false,
    multiValue = false,
    ordered = false,
    keyEncoding = "row",
    rowEncoding = "unsaferow",
    partitionKey = "all",
    keySchemaId = 0,
    valueSchemaId = 0
  )
}
