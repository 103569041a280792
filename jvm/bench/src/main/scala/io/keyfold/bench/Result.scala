package io.keyfold.bench

import java.time.Instant

/** The outcome of one cell, with all that it depends on.
  *
  * @param key
  *   hash of the code that was measured and of how
  * @param seconds
  *   that the cell took with everything it prepared
  */
final case class Result(
    cell: Cell,
    effort: Effort,
    key: String,
    machine: Machine,
    date: Instant,
    seconds: Double,
    outcome: Outcome
)

/** One line of JSON a result. */
object Result {
  def toLine(result: Result): String = {
    val json = ujson.Obj(
      "cell" -> result.cell.name,
      "operation" -> result.cell.operation,
      "rows" -> result.cell.rows,
      "shape" -> result.cell.shape,
      "provider" -> result.cell.provider.name,
      "effort" -> result.effort.name,
      "key" -> result.key,
      "commit" -> result.machine.commit,
      "jvm" -> result.machine.jvm,
      "cores" -> result.machine.cores,
      "memoryGiB" -> result.machine.memoryGiB.toInt,
      "date" -> result.date.toString,
      "seconds" -> result.seconds
    )
    json.value ++= Outcome.toJson(result.outcome).value
    ujson.write(json)
  }

  def ofLine(line: String): Result = {
    val json = ujson.read(line)
    Result(
      Cell(
        json("operation").str,
        json("rows").num.toInt,
        json("shape").str,
        Provider.ofName(json("provider").str)
      ),
      Effort.ofName(json("effort").str),
      json("key").str,
      Machine(
        json("commit").str,
        json("jvm").str,
        json("cores").num.toInt,
        json("memoryGiB").num.toLong
      ),
      Instant.parse(json("date").str),
      json("seconds").num,
      Outcome.ofJson(json)
    )
  }
}
