package io.keyfold.spark.conf

import io.keyfold.errors.Invalid
import io.keyfold.format.wire.Codec
import io.keyfold.group.KeyGroups

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

  val KEY_GROUPS: ConfEntry[Int] = ConfEntry(
    "keyGroups",
    "the smallest of N x {1, 2, 6, 12, 24, 60, 120, 360, 720, 2520, 5040} that is at least 4096",
    "Number of key groups of a new checkpoint, a multiple of the number of partitions N. It cannot " +
      "be changed later: what the files of a checkpoint say wins over this setting. The more " +
      "divisors it has, the more numbers of partitions can be reached by moving whole groups.",
    text =>
      text.toIntOption
        .filter(groups => groups > 0 && groups <= KeyGroups.Most)
        .toRight(s"must be a whole number from 1 to ${KeyGroups.Most}")
  )

  val COMPRESSION_CODEC: ConfEntry[Codec] = ConfEntry(
    "compression.codec",
    Codec.Zstandard.name,
    "Compression of the blocks that are written: zstd, lz4 or none. Files of any codec are read " +
      "whatever is set here. (Spark's own spark.sql.streaming.stateStore.compression.codec is not " +
      "used: Spark pins it to lz4 in the checkpoint of every query that did not set it.)",
    text =>
      Codec.ofName(text).toRight(s"must be one of ${Codec.all.map(_.name).sorted.mkString(", ")}")
  )

  val SNAPSHOT_AFTER_DELTA_BYTES: ConfEntry[Long] = ConfEntry(
    "snapshotAfterDeltaBytes",
    (128L << 20).toString,
    "Bytes of delta files since the last snapshot at which maintenance writes the next one. Spark's " +
      "spark.sql.streaming.stateStore.minDeltasForSnapshot is a bound in number of deltas; what is " +
      "reached first counts. A load reads the last snapshot and at most about so many bytes more.",
    text => text.toLongOption.filter(_ > 0).toRight("must be a number of bytes above 0")
  )

  val MEMORY_MAX_BYTES: ConfEntry[Long] = ConfEntry(
    "memory.maxBytes",
    "half of the executor's memory overhead on YARN and Kubernetes; a quarter of the memory of the " +
      "machine or container in local mode; else a quarter of the executor's heap",
    "Most bytes off the heap that all stores of an executor take together. State beyond it goes to " +
      "memory-mapped files in Spark's local directory, and is slower. The first value that an " +
      "executor sees stays. (By default, executors that share a machine take no more together than " +
      "a quarter of it, if their heaps fit into it. One that has a machine for itself may be given " +
      "more.)",
    text => text.toLongOption.filter(_ > 0).toRight("must be a number of bytes above 0")
  )

  val all: Seq[ConfEntry[_]] =
    Seq(KEY_GROUPS, COMPRESSION_CODEC, SNAPSHOT_AFTER_DELTA_BYTES, MEMORY_MAX_BYTES)
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
      s"There is no setting $key. Keyfold knows ${all.map(_.key).mkString(", ")}."
    )
  }

  def codec: Codec = value(COMPRESSION_CODEC).getOrElse(Codec.Zstandard)

  def snapshotAfterDeltaBytes: Long = value(SNAPSHOT_AFTER_DELTA_BYTES)
    .getOrElse(SNAPSHOT_AFTER_DELTA_BYTES.default.toLong)

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
