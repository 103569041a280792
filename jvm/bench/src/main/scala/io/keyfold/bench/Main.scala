package io.keyfold.bench

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.time.Instant

import io.keyfold.testkit.TestedCode

/** Runs the cells of the plan that have no result yet, then writes the page; see README.md. */
object Main {
  private val Output = Path.of("bench-out")
  private val results = new ResultFile(Output.resolve("results.jsonl"))

  def main(arguments: Array[String]): Unit = {
    val options =
      try Options.parse(arguments.toList)
      catch {
        case error: IllegalArgumentException =>
          System.err.println(error.getMessage)
          sys.exit(2)
      }
    val key = keyOf(options.effort)
    if (options.onlyPage) writePage(options.effort, key)
    else runAndWrite(options, key)
  }

  private def runAndWrite(options: Options, key: String): Unit = {
    val chosen = Plan.of(options.effort).filter(options.selects)
    if (chosen.isEmpty) {
      System.err.println(s"No cell has all of ${options.words.mkString(", ")} in its name. Cells:")
      Plan.of(options.effort).foreach(cell => System.err.println(s"  ${cell.name}"))
      sys.exit(2)
    }
    val failed = run(chosen, options, key)
    // A run of some cells must not replace the page of all.
    if (options.keepsResults && options.words.isEmpty) writePage(options.effort, key)
    System.exit(if (failed == 0) 0 else 1)
  }

  /** @return
    *   how many cells failed
    */
  private def run(chosen: Seq[Cell], options: Options, key: String): Int = {
    val earlier = results.read()
    val done = earlier.filter(isDone(_, options.effort, key)).map(_.cell).toSet
    val again = options.fresh || !options.keepsResults
    val cells = chosen.filter(cell => again || !done(cell))
    if (cells.size < chosen.size)
      println(s"${chosen.size - cells.size} cells have a result of the same code (FRESH=1: again)")
    val process = new CellProcess(property("java.args"), Output, options)
    val progress = new Progress(cells, options.effort, earlier)
    val machine = Machine.current()
    cells.count { cell =>
      progress.starts(cell)
      val start = System.nanoTime
      val outcome = process.run(cell)
      val seconds = (System.nanoTime - start) / 1e9
      progress.ended(outcome, seconds)
      if (options.keepsResults)
        results.append(Result(cell, options.effort, key, machine, Instant.now(), seconds, outcome))
      if (options.profile) Profile.hottest(process.profileOf(cell)).foreach(println)
      outcome.isInstanceOf[Outcome.Failed]
    }
  }

  private def isDone(result: Result, effort: Effort, key: String) =
    result.effort == effort && result.key == key && !result.outcome.isInstanceOf[Outcome.Failed]

  private def writePage(effort: Effort, key: String): Unit = {
    val file = effort match {
      case Effort.Full  => Path.of("docs", "benchmarks.md")
      case Effort.Quick => Output.resolve("quick.md")
    }
    val own = results.read().filter(result => result.effort == effort && result.key == key)
    Files.write(file, new Page(effort, own, property("spark.version")).text.getBytes(UTF_8))
    println(s"Wrote $file")
  }

  /** Of all that a result depends on, but for the commit: most commits change nothing here. */
  private def keyOf(effort: Effort) = {
    val measured = property("measured").split(File.pathSeparator).toSeq.map(Path.of(_))
    val here = Machine.current().copy(commit = "")
    val settings = Provider.all.map(provider => s"${provider.name} ${provider.settings}")
    val conditions = Seq(property("spark.version"), here.toString, effort.text) ++ settings
    TestedCode.key(measured, conditions ++ CellProcess.JvmOptions)
  }

  private def property(name: String): String = {
    val full = s"keyfold.bench.$name"
    sys.props.getOrElse(full, sys.error(s"Missing -D$full: use the file of bench/prepare"))
  }
}
