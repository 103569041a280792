package io.keyfold.spark.conf

/** Class names of state store providers, as in settings and checkpoints. */
object ProviderClass {
  private val Package = "org.apache.spark.sql.execution.streaming.state"

  /** As Spark's error messages call Keyfold's. */
  val SimpleName = "KeyfoldStateStoreProvider"

  val Keyfold: String = s"io.keyfold.spark.$SimpleName"

  /** Spark's own providers, from which state can be migrated. */
  val BuiltIn: Seq[String] =
    Seq(s"$Package.HDFSBackedStateStoreProvider", s"$Package.RocksDBStateStoreProvider")
}
