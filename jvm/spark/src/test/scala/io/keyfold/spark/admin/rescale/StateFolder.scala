package io.keyfold.spark.admin.rescale

import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import io.keyfold.format.FileKind
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.testkit.{FileContents, LocalBlobStore, StoreReader}
import org.scalatest.Assertions

/** The state files of a stopped query, looked at one by one. */
private[spark] final class StateFolder(checkpoint: Path) extends Assertions {
  private val blobs = new LocalBlobStore(checkpoint)

  private def folders(in: String): Seq[String] = {
    val listed = Files.list(checkpoint.resolve(in))
    try listed.iterator.asScala.filter(Files.isDirectory(_)).map(_.getFileName.toString).toSeq
    finally listed.close()
  }

  def operators: Seq[Long] = folders("state").flatMap(_.toLongOption).sorted

  def stores(operator: Long): Seq[String] = {
    val named = folders(s"state/$operator/0").filterNot(_.startsWith("_"))
    if (named.isEmpty) Seq(StoreLocation.DefaultStore) else named
  }

  private def location(operator: Long, partition: Int, store: String) =
    StoreLocation(operator, partition, store)

  /** Names of a partition's files. */
  def files(operator: Long, partition: Int, store: String): Seq[String] =
    blobs.list(location(operator, partition, store).folder).filter(FileKind.parse(_).nonEmpty)

  def references: Seq[String] = for {
    operator <- operators
    partition <- folders(s"state/$operator").flatMap(_.toIntOption).sorted
    store <- stores(operator)
    name <- files(operator, partition, store) if name.endsWith(".ref")
  } yield name

  def plans: Seq[String] = ofRescales.filter(_.endsWith(".plan"))
  def manifests: Seq[String] = ofRescales.filter(_.endsWith(".manifest"))

  private def ofRescales =
    if (!Files.exists(checkpoint.resolve("keyfold"))) Nil
    else checkpoint.resolve("keyfold").toFile.list.toSeq.filterNot(_.startsWith("."))

  /** Every entry of every file of these versions is in a partition that its hash says. */
  def requirePlaced(since: Long): Unit = for {
    operator <- operators
    partition <- folders(s"state/$operator").flatMap(_.toIntOption)
    store <- stores(operator)
    name <- files(operator, partition, store)
    (version, _) <- FileKind.parse(name) if version.version >= since
  } {
    val folder = location(operator, partition, store).folder
    val file = FileContents.read(blobs, s"$folder/$name")
    val n = file.footer.identity.partitions
    file.entries.foreach(e => assert(Math.floorMod(e.hash, n) == partition, s"$folder/$name"))
  }

  /** Loads the newest version of all stores: each row is in one partition, where its hash says.
    *
    * @return
    *   how many rows each operator has in all stores
    */
  def rows(partitions: Int, version: Long, id: (Long, Int, Int) => String): Map[Long, Int] =
    operators.map { operator =>
      val counts = for ((store, index) <- stores(operator).sorted.zipWithIndex) yield {
        val seen = mutable.Map.empty[(String, String), Int]
        for (p <- 0 until partitions if files(operator, p, store).nonEmpty) {
          load(
            location(operator, p, store),
            partitions,
            VersionId(version, id(operator, p, index))
          ) { (family, key, hash) =>
            assert(Math.floorMod(hash, partitions) == p, s"operator $operator $store in $p")
            val before = seen.put((family, key), p)
            assert(before.isEmpty, s"operator $operator $store: $before and $p")
            ()
          }
        }
        seen.size
      }
      operator -> counts.sum
    }.toMap

  private def load(location: StoreLocation, partitions: Int, version: VersionId)(
      row: (String, String, Int) => Unit
  ): Unit = StoreReader.read(blobs, location, partitions, version) { view =>
    for (index <- view.families.indices) {
      val rows = view.scan(index)
      while (rows.next()) {
        val key = java.util.HexFormat.of.formatHex(rows.key.toArray)
        row(view.families(index).spec.name, key, rows.hash)
      }
    }
  }
}
