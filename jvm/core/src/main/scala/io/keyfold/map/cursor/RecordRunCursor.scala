package io.keyfold.map.cursor

import io.keyfold.map.value.{IntList, RecordRun, Records, ValueSteps}

/** Steps through a given run of records. */
private[map] final class RecordRunCursor(
    records: Records,
    run: RecordRun,
    values: ValueSteps,
    lock: ViewLock,
    txn: PagePins
) extends RecordCursor(records, values, lock, txn) {
  import RecordRunCursor._

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

private object RecordRunCursor {

  /** The capacity of a leaf. */
  private val AtOnce = 64
}
