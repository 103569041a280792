package io.keyfold.bench

/** One measurement: an operation on a state of so many rows of one shape, by one provider.
  *
  * @param operation
  *   a name that `io.keyfold.bench.cell.Works` knows
  * @param rows
  *   number of rows of the state
  * @param shape
  *   `int`: (int, timestamp) to int, as in Spark's own benchmark; `str`: string(24) to 100 bytes
  */
final case class Cell(operation: String, rows: Int, shape: String, provider: Provider) {
  def name: String = s"$operation/${Cell.short(rows)}/$shape/${provider.name}"
}

object Cell {

  /** As people say it: 10k, 5M. */
  def short(rows: Int): String =
    if (rows >= 1000000 && rows % 1000000 == 0) s"${rows / 1000000}M"
    else if (rows >= 1000 && rows % 1000 == 0) s"${rows / 1000}k"
    else rows.toString
}
