package io.keyfold.map

/** Rows whose records are known. */
private[map] final class ListedCursor(
    records: Records,
    list: IntList,
    values: ValueSteps,
    owner: ArenaView,
    txn: ArenaTxn
) extends RecordCursor(records, values, owner, txn) {
  start()

  override protected def fetch(batch: IntList): Boolean = {
    batch.addAll(list)
    false
  }
}
