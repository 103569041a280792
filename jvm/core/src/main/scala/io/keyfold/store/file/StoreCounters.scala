package io.keyfold.store.file

import java.util.concurrent.atomic.LongAdder

/** Counts the work of a store since it was opened. Any thread may add and read. */
final class StoreCounters {

  /** Versions rebuilt from files, and milliseconds spent on it. */
  val loads = new LongAdder
  val loadMs = new LongAdder

  /** Loads from the files of another number of partitions. */
  val rescaledLoads = new LongAdder

  /** Requests for a version that was in memory. */
  val memoryHits = new LongAdder

  /** Snapshots and merged deltas that could not be used, so that other files were read. */
  val snapshotFallbacks = new LongAdder

  /** Files and bytes written. */
  val deltas = new LongAdder
  val deltaBytes = new LongAdder
  val snapshots = new LongAdder
  val snapshotBytes = new LongAdder
  val merges = new LongAdder
  val mergedBytes = new LongAdder

  /** Tries of file operations: list, look for, open, read, write, delete. */
  val operations = new LongAdder

  /** File operations retried after an error that may be temporary. */
  val retries = new LongAdder

  /** @param times
    *   that a file system has repeated operations by itself
    */
  def repeated(times: Long): Unit = {
    operations.add(times)
    retries.add(times)
  }

  /** @param number
    *   of the try at a file operation, from 1
    */
  def tried(number: Int): Unit = {
    operations.increment()
    if (number > 1) retries.increment()
  }

  /** Files deleted by retention. */
  val filesDeleted = new LongAdder
}
