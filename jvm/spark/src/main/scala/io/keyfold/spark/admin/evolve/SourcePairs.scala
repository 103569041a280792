package io.keyfold.spark.admin.evolve

import java.time.Instant

import io.keyfold.spark.checkpoint.{CheckpointTools, LogEntry}
import org.apache.spark.sql.keyfold.EmptyInput.Planned

/** With which source of a checkpoint each source of a changed query goes on: as the user says, else
  * by their order. The offset log has a line for each use of a source; what sources keep in the
  * checkpoint has a folder for each source.
  *
  * @param last
  *   the batch after which it goes on
  */
private final class SourcePairs(
    tools: CheckpointTools,
    made: CheckpointTools,
    last: Long,
    now: Planned,
    before: Option[Planned],
    choices: Choices
) {
  private val own = LogEntry.read(made.files, "offsets/0").sources.length
  private val offsets = LogEntry.read(tools.files, s"offsets/$last").sources

  /** For each use of a source the line of the checkpoint; None: it begins anew. */
  val lines: Seq[Option[Int]] = choices.sources.getOrElse((0 until own).map(Some(_)))

  /** For each folder of the new checkpoint that of the old one. */
  val folders: Seq[(String, String)] = {
    val its = tools.files.folders("sources")
    if (choices.sources.isEmpty) its.map(it => it -> it)
    else
      lines.zipWithIndex.collect {
        case (Some(old), number) if its.contains(old.toString) => s"$number" -> s"$old"
      }
  }

  def described: Seq[String] = lines.zipWithIndex.map { case (line, number) =>
    val isKnown = now.sources.length == own
    val name = now.sources.lift(number).filter(_ => isKnown).fold("")(it => s"$it, ")
    line.fold(s"${name}begins anew") { it =>
      s"${name}goes on as source $it at ${offsets.lift(it).getOrElse("?")}"
    }
  }

  def warnings: Seq[String] = {
    // Two of the same name are told apart by nothing.
    val isKnown = before.exists(_.sources == now.sources) &&
      now.sources.distinct.length == now.distinct
    val watermark = LogEntry.read(made.files, "offsets/0").watermarkMs
    Seq(
      Option.when(choices.sources.isEmpty && now.distinct > 1 && !isKnown)(
        "sources go on by their order alone: if it has changed, say so with --sources"
      ),
      Option.when(lines.contains(None))(
        "rows of a source that begins anew are too late if they are older than the watermark" +
          (if (watermark > 0) s", ${Instant.ofEpochMilli(watermark)}" else "")
      )
    ).flatten
  }

  def refusals: Seq[String] = {
    val say = s"The query reads $own sources and the checkpoint has offsets of ${offsets.length}"
    choices.sources match {
      case None if own != offsets.length =>
        Seq(
          s"$say: give for each of the query, in its order, the number of that in the checkpoint, or new, with " +
            "--sources, such as --sources 0,new."
        )
      case Some(all) if all.length != own => Seq(s"$say, and --sources has ${all.length}.")
      case Some(all) if all.flatten.exists(_ >= offsets.length) =>
        Seq(s"$say, and --sources has ${all.flatten.max}.")
      case Some(_) if now.distinct != own || isUsedTwice =>
        Seq(
          "A source seems to be used twice, so that what sources keep in the checkpoint cannot be told apart for " +
            "--sources; if none is, give the query before with --from."
        )
      case _ => Nil
    }
  }

  /** Whether fewer folders than offsets show it; some sources have no folder. */
  private def isUsedTwice = {
    val its = tools.files.folders("sources").flatMap(_.toIntOption)
    its.nonEmpty && before.fold(its.max + 1 < offsets.length)(_.distinct < offsets.length)
  }
}
