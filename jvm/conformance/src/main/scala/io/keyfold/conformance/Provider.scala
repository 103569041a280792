package io.keyfold.conformance

/** A state store provider that suites are run with.
  *
  * @param name
  *   as the command line and the page have it
  * @param hasFamilies
  *   whether it can keep column families; suites that need them are left out if not
  */
final case class Provider(name: String, className: String, hasFamilies: Boolean = true)

object Provider {
  private val Spark = "org.apache.spark.sql.execution.streaming.state"

  val Keyfold: Provider = Provider("Keyfold", "io.keyfold.spark.KeyfoldStateStoreProvider")
  val RocksDb: Provider = Provider("RocksDB", s"$Spark.RocksDBStateStoreProvider")
  val HdfsBacked: Provider =
    Provider("HDFSBacked", s"$Spark.HDFSBackedStateStoreProvider", hasFamilies = false)
  val Refusing: Provider = Provider("Refusing", "io.keyfold.conformance.RefusingProvider")

  /** Those that the page shows, in the order of its columns. */
  val Compared: Seq[Provider] = Seq(Keyfold, RocksDb, HdfsBacked)

  def parse(name: String): Provider =
    (Compared :+ Refusing)
      .find(_.name == name)
      .getOrElse(throw new IllegalArgumentException(s"Invalid provider: $name"))
}
