package io.keyfold.bench.cell

import java.io.OutputStream
import java.nio.file.Path
import java.time.Clock
import java.util.concurrent.atomic.AtomicLong

import io.keyfold.format.{FileKind, FileReader, VersionId}
import io.keyfold.io.{BlobReader, BlobStore, LocalBlobStore}
import io.keyfold.map.ArenaMap
import io.keyfold.mem.PagePool
import io.keyfold.store._

/** Loads what a rescale has left, from the files of the checkpoint, and counts what is read. */
object FirstLoads {

  /** Bytes that the first loads of all partitions of operator 0 read, the references themselves
    * included, divided by the bytes of the files that hold the state: of each byte of these files
    * one partition is the owner.
    *
    * @param version
    *   of the rescale's batch
    */
  def readOfOwned(checkpoint: Path, partitions: Int, version: Long): Double = {
    val blobs = new CountingBlobs(new LocalBlobStore(checkpoint.resolve("state")))
    val places = (0 until partitions).map(StoreLocation(0, _, StoreLocation.DefaultStore))
    val owned = places.flatMap(files(blobs, _, version)).toMap.values.sum
    blobs.read.set(0)
    places.foreach(load(blobs, _, partitions, version))
    blobs.read.get.toDouble / owned
  }

  private def files(blobs: BlobStore, place: StoreLocation, version: Long) = {
    val id = VersionId(version, "")
    val path = s"${place.folder}/${FileKind.Reference.nameOf(id)}"
    val file = FileReader.open(blobs, path, id, FileKind.Reference)
    try file.footer.references.get.files.map(f => f.path -> f.length)
    finally file.close()
  }

  private def load(blobs: BlobStore, place: StoreLocation, partitions: Int, version: Long): Unit = {
    val pool = new PagePool(Long.MaxValue, None)
    val settings = StoreSettings.forReading(partitions)
    val newMap = new ArenaMap(_: Int, pool)
    val store =
      new VersionedStore(place, settings, Nil, blobs, Clock.systemUTC(), _ => (), newMap)
    try store.read(VersionId(version, "")).release()
    finally store.close()
  }

  private final class CountingBlobs(inner: BlobStore) extends BlobStore {
    val read = new AtomicLong

    override def open(path: String): BlobReader = {
      val file = inner.open(path)
      new BlobReader {
        override def length: Long = file.length
        override def read(position: Long, count: Int): Array[Byte] = {
          CountingBlobs.this.read.addAndGet(count.toLong)
          file.read(position, count)
        }
        override def close(): Unit = file.close()
      }
    }

    override def write(path: String)(body: OutputStream => Unit): Long = inner.write(path)(body)
    override def exists(path: String): Boolean = inner.exists(path)
    override def lengths(folder: String): Map[String, Long] = inner.lengths(folder)
    override def delete(path: String): Unit = inner.delete(path)
    override def describe(path: String): String = inner.describe(path)
    override def close(): Unit = inner.close()
  }
}
