package io.keyfold.store.file

import java.util.concurrent.atomic.LongAdder

/** What a store has done since it was opened. Any thread may add and read. */
final class StoreCounters {

  /** Versions rebuilt from files, and the milliseconds that took. */
  val loads = new LongAdder
  val loadMs = new LongAdder

  /** Versions that were still in memory when asked for. */
  val memoryHits = new LongAdder

  /** Snapshots that could not be used, so that an older one was. */
  val snapshotFallbacks = new LongAdder

  /** Files and bytes written. */
  val deltas = new LongAdder
  val deltaBytes = new LongAdder
  val snapshots = new LongAdder
  val snapshotBytes = new LongAdder

  /** File operations tried again after a failure that might pass. */
  val retries = new LongAdder

  /** Files deleted by retention. */
  val filesDeleted = new LongAdder
}
