package io.keyfold.spark.start

import scala.util.Try

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.redistribute.Redistributor
import io.keyfold.spark.checkpoint.CheckpointTools
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.PlannedSubtasks
import org.slf4j.LoggerFactory

/** Gives operators with state of their subtasks the parallelism with which a query starts. */
private[start] final class RedistributeAtStart(session: SparkSession) {
  import RedistributeAtStart._

  /** @throws io.keyfold.errors.Invalid
    *   if two operators have one name
    */
  def check(operators: Seq[PlannedSubtasks]): Unit =
    operators.groupBy(_.name).collectFirst { case (name, of) if of.lengthIs > 1 => name }.foreach {
      name =>
        throw new Invalid(
          "KEYFOLD_OPERATOR_NAME",
          s"The query has two operators '$name' with state of subtasks. Give one of them another " +
            "name. The query was not started."
        )
    }

  /** Does nothing if the state has the parallelism already, or cannot be read: the batch tells.
    *
    * @throws io.keyfold.errors.StoreError
    *   if it is refused; nothing of this operator is changed then
    */
  def run(last: LastBatch, operators: Seq[PlannedSubtasks]): Unit = operators.foreach { operator =>
    CheckpointTools.using(session, last.logs.location) { tools =>
      val it = new Redistributor(session, tools, operator.name, operator.places, isStart = true)
      if (Try(it.isDue).getOrElse(false)) {
        val done = it.run()
        log.info(
          s"Redistributed operator ${done.name} of ${done.location} from ${done.from} to ${done.to} " +
            s"subtasks, after batch ${done.batch}"
        )
      }
    }
  }
}

private object RedistributeAtStart {
  private val log = LoggerFactory.getLogger(classOf[RedistributeAtStart])
}
