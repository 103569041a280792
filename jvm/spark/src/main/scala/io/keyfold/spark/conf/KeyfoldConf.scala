package io.keyfold.spark.conf

import scala.util.Try

import io.keyfold.errors.Invalid
import io.keyfold.format.wire.Codec
import io.keyfold.group.KeyGroups
import org.apache.spark.network.util.JavaUtils

/** One setting.
  *
  * @param name
  *   below [[KeyfoldConf.Prefix]]
  * @param default
  *   for the documentation
  * @param parse
  *   text to value, or an error message
  */
final case class ConfEntry[T](
    name: String,
    default: String,
    doc: String,
    parse: String => Either[String, T]
) {
  val key: String = KeyfoldConf.Prefix + name
}

/** All settings of Keyfold; `docs/configuration.md` is generated from it.
  *
  * Only keys below `spark.sql.streaming.stateStore.` reach a provider on executors.
  */
object KeyfoldConf {
  val Prefix = "spark.sql.streaming.stateStore.keyfold."

  /** A size as Spark's own settings have it: in bytes, or with a unit. */
  private def bytes(text: String): Either[String, Long] =
    Try(JavaUtils.byteStringAsBytes(text)).toOption
      .filter(_ > 0)
      .toRight("must be a size above 0, in bytes or with a unit, such as 512m or 4g")

  val KEY_GROUPS: ConfEntry[Int] = ConfEntry(
    "keyGroups",
    "the smallest of N x {1, 2, 6, 12, 24, 60, 120, 360, 720, 2520, 5040} that is at least 4096",
    "Number of key groups of a new checkpoint, a multiple of the number of partitions N. It " +
      "cannot be changed later: the number in the files of a checkpoint overrides this setting. " +
      "The more divisors it has, the more numbers of partitions a rescale can reach by moving " +
      "whole groups.",
    text =>
      text.toIntOption
        .filter(groups => groups > 0 && groups <= KeyGroups.Most)
        .toRight(s"must be a whole number from 1 to ${KeyGroups.Most}")
  )

  val PARTITIONS: ConfEntry[Int] = ConfEntry(
    "partitions",
    "not set",
    "Number of partitions of the state of every query that starts. A query whose checkpoint has " +
      "another number is rescaled before its first batch, as `keyfold rescale` does; the log says " +
      "so, and the metric keyfoldRescaledLoads counts the stores that load such state. The start " +
      "fails if the rescale is refused. No other run of the query may be active. A new query " +
      "begins with spark.sql.shuffle.partitions, as ever. Needs the extension " +
      "io.keyfold.spark.KeyfoldExtensions.",
    text => text.toIntOption.filter(_ > 0).toRight("must be a whole number above 0")
  )

  val COMPRESSION_CODEC: ConfEntry[Codec] = ConfEntry(
    "compression.codec",
    Codec.Zstandard.name,
    "Compression codec of blocks in new files: zstd, lz4 or none. Files of every codec can be " +
      "read, whatever the setting. (Spark's own " +
      "spark.sql.streaming.stateStore.compression.codec is not used: Spark pins it to lz4 in " +
      "the checkpoint of every query that did not set it.)",
    text =>
      Codec.ofName(text).toRight(s"must be one of ${Codec.all.map(_.name).sorted.mkString(", ")}")
  )

  val SNAPSHOT_AFTER_DELTA_BYTES: ConfEntry[Long] = ConfEntry(
    "snapshotAfterDeltaBytes",
    (128L << 20).toString,
    "Size of the deltas that are not merged, in bytes or with a unit (64m), at which maintenance " +
      "merges them or writes the next snapshot. Maintenance also does so after " +
      "spark.sql.streaming.stateStore.minDeltasForSnapshot files, whichever comes first. So a " +
      "load reads the last snapshot, about as many files and this many bytes of deltas at most. A " +
      "load that had to read more, because runs end before maintenance comes, leads to a merge or " +
      "snapshot and a cleanup right after its commit, in the background; if no run lives long enough " +
      "for it, to one that the task waits for, once twice as much has to be read.",
    bytes
  )

  val SNAPSHOT_AFTER_SHARE: ConfEntry[Double] = ConfEntry(
    "snapshotAfterShare",
    "0.5",
    "Share of the last snapshot's bytes that the deltas after it reach, merged ones included, before " +
      "maintenance writes the next snapshot; until then it merges deltas into larger ones. So a load " +
      "reads one and a half times as much as with a new snapshot at most, and what is written follows " +
      "what changes and not the size of the state. Less means shorter loads, more means fewer bytes " +
      "written. Under checkpoint format v1 nothing is merged.",
    text =>
      text.toDoubleOption
        .filter(share => share >= 0 && share < Double.PositiveInfinity)
        .toRight("must be a number, 0 or above")
  )

  val MEMORY_MAX_BYTES: ConfEntry[Long] = ConfEntry(
    "memory.maxBytes",
    "half of the executor's memory overhead on YARN and Kubernetes; a quarter of the memory of the " +
      "machine or container in local mode; else a quarter of the executor's heap",
    "Maximum off-heap memory of all state stores of an executor together, in bytes or with a " +
      "unit (4g). State above this limit is in files in Spark's local directory, which is slower. " +
      "An executor keeps the first value that it gets. (By default, executors that share a " +
      "machine take at most a quarter of its memory together, if their heaps fit into it. An " +
      "executor that is alone on a machine can be given more.)",
    bytes
  )

  val FILES_FORCED: ConfEntry[Boolean] = ConfEntry(
    "files.forced",
    "true",
    "Whether checkpoint files on a local disk are forced to it before they count as written, so that " +
      "they survive a crash of the machine or a loss of its power, not only of Spark. Spark's own " +
      "file manager does not do so.",
    text => text.toBooleanOption.toRight("must be true or false")
  )

  val all: Seq[ConfEntry[_]] =
    Seq(
      KEY_GROUPS,
      PARTITIONS,
      COMPRESSION_CODEC,
      SNAPSHOT_AFTER_DELTA_BYTES,
      SNAPSHOT_AFTER_SHARE,
      MEMORY_MAX_BYTES,
      FILES_FORCED
    )

  /** Whether checkpoint files are forced to disk.
    *
    * @param setting
    *   the text of a setting, null if it is not set
    */
  def filesForced(setting: String => String): Boolean =
    new KeyfoldConf(Option(setting(FILES_FORCED.key)).map(FILES_FORCED.key -> _).toMap).filesForced
}

/** The settings of one store.
  *
  * @param confs
  *   the settings below `spark.sql.streaming.stateStore.`
  * @throws io.keyfold.errors.Invalid
  *   if a key below Keyfold's prefix is unknown
  */
final class KeyfoldConf(confs: Map[String, String]) {
  import KeyfoldConf._

  confs.keys.filter(_.startsWith(Prefix)).find(key => !all.exists(_.key == key)).foreach { key =>
    throw new Invalid(
      "KEYFOLD_UNKNOWN_SETTING",
      s"There is no setting $key: remove $key, or correct its name. Keyfold knows " +
        s"${all.map(_.key).mkString(", ")}."
    )
  }

  /** Number of partitions that queries are rescaled to when they start. */
  def partitions: Option[Int] = value(PARTITIONS)

  def codec: Codec = value(COMPRESSION_CODEC).getOrElse(Codec.Zstandard)

  def snapshotAfterDeltaBytes: Long = value(SNAPSHOT_AFTER_DELTA_BYTES)
    .getOrElse(SNAPSHOT_AFTER_DELTA_BYTES.default.toLong)

  def snapshotAfterShare: Double =
    value(SNAPSHOT_AFTER_SHARE).getOrElse(SNAPSHOT_AFTER_SHARE.default.toDouble)

  def filesForced: Boolean = value(FILES_FORCED).getOrElse(FILES_FORCED.default.toBoolean)

  /** Checks the values of all settings.
    *
    * @throws io.keyfold.errors.Invalid
    *   if one is invalid
    */
  def check(): Unit = all.foreach(value(_))

  /** None: the default, which depends on the executor. */
  def memoryMaxBytes: Option[Long] = value(MEMORY_MAX_BYTES)

  /** Key groups for a new checkpoint; an existing one keeps its own number.
    *
    * @param partitions
    *   N; 0 if not known
    */
  def keyGroups(partitions: Int): Int = value(KEY_GROUPS).getOrElse(defaultKeyGroups(partitions))

  private def defaultKeyGroups(partitions: Int): Int = {
    val groups = KeyGroups.defaultCount(partitions)
    if (groups > KeyGroups.Most) {
      throw new Invalid(
        "KEYFOLD_INVALID_SETTING",
        s"Invalid number of partitions: it must be at most ${KeyGroups.Most}, not $partitions"
      )
    }
    groups
  }

  private def value[T](entry: ConfEntry[T]): Option[T] =
    confs.get(entry.key).map { text =>
      entry.parse(text.trim).fold(why => throw invalid(entry, text, why), identity)
    }

  private def invalid(entry: ConfEntry[_], text: String, why: String) =
    new Invalid("KEYFOLD_INVALID_SETTING", s"Invalid ${entry.key}: $why, not $text")
}
