package io.keyfold.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

/** The id of a query, in the file of its checkpoint where Spark keeps it. */
private[spark] object QueryId {
  val Place = "metadata"

  /** Content of the file with an id that no query has. */
  def fresh(): Array[Byte] = s"""{"id":"${UUID.randomUUID}"}""".getBytes(UTF_8)
}
