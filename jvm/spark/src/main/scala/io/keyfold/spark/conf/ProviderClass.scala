package io.keyfold.spark.conf

/** Class names of state store providers, as settings and checkpoints have them. */
object ProviderClass {
  private val Package = "org.apache.spark.sql.execution.streaming.state"

  val Keyfold = "io.keyfold.spark.KeyfoldStateStoreProvider"

  /** Spark's own, whose state can be brought over. */
  val BuiltIn: Seq[String] =
    Seq(s"$Package.HDFSBackedStateStoreProvider", s"$Package.RocksDBStateStoreProvider")
}
