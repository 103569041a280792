package io.keyfold.bench.cell

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import io.keyfold.bench.{Effort, Outcome, Provider}
import io.keyfold.testkit.RunnerWatch
import org.apache.spark.SparkThrowable

/** Measures one cell in this JVM: `CellMain <operation> <rows> <shape> <provider> <effort> <file>`,
  * where the outcome goes as JSON.
  */
object CellMain {
  def main(arguments: Array[String]): Unit = {
    RunnerWatch.start()
    val (job, file) = jobOf(arguments)
    Files.write(file, ujson.write(Outcome.toJson(outcomeOf(job))).getBytes(UTF_8))
    // Threads that a provider leaves behind must not keep the JVM.
    System.exit(0)
  }

  private def jobOf(arguments: Array[String]): (Job, Path) = arguments match {
    case Array(operation, rows, shape, provider, effort, file) =>
      val job = Job(
        operation,
        rows.toInt,
        Shape.ofName(shape),
        Provider.ofName(provider),
        Effort.ofName(effort)
      )
      (job, Path.of(file))
    case _ => throw new IllegalArgumentException("Invalid number of arguments")
  }

  private def outcomeOf(job: Job): Outcome =
    try {
      val work = Works.of(job)
      val profile = sys.props.get("keyfold.bench.profile").map(Path.of(_))
      try new Rounds(job.effort, profile).measure(work)
      finally work.close()
    } catch {
      // So Spark's providers say that they do not have something.
      case error: UnsupportedOperationException if error.isInstanceOf[SparkThrowable] =>
        Outcome.Unsupported(oneLine(error.getMessage))
      case error: Unsupported => Outcome.Unsupported(error.getMessage)
      // Also running out of memory is an outcome.
      case error: Throwable =>
        error.printStackTrace()
        Outcome.Failed(oneLine(error.toString))
    }

  private def oneLine(text: String) = text.replaceAll("\\s+", " ").take(300)
}
