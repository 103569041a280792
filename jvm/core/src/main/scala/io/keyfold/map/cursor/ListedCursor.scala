package io.keyfold.map.cursor

import io.keyfold.map.value.{IntList, RecordRun, Records, ValueSteps}

/** Rows whose records are known. */
private[map] final class ListedCursor(
    records: Records,
    run: RecordRun,
    values: ValueSteps,
    lock: ViewLock,
    txn: PagePins
) extends RecordCursor(records, values, lock, txn) {
  import ListedCursor._

  private var taken = 0
  start()

  override protected def fetch(batch: IntList): Boolean = {
    val end = math.min(run.size, taken + AtOnce)
    while (taken < end) {
      batch.add(run(taken))
      taken += 1
    }
    taken < run.size
  }
}

private object ListedCursor {

  /** As many as a leaf has. */
  private val AtOnce = 64
}
