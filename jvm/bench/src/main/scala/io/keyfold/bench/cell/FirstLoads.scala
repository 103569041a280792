package io.keyfold.bench.cell

import java.nio.file.Path
import java.util.concurrent.atomic.AtomicLong

import io.keyfold.format.{FileKind, FileReader, Manifest, PlanName}
import io.keyfold.io.{BlobReader, BlobStore}
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.testkit.{ForwardingBlobReader, ForwardingBlobStore, LocalBlobStore, StoreReader}

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
    val blobs = new CountingBlobs(new LocalBlobStore(checkpoint))
    val places = (0 until partitions).map(StoreLocation(0, _, StoreLocation.DefaultStore))
    val owned = places.flatMap(files(blobs, _, version)).toMap.values.sum
    blobs.read.set(0)
    for (place <- places)
      StoreReader.read(blobs, place, partitions, VersionId(version, ""))(_ => ())
    blobs.read.get.toDouble / owned
  }

  private def files(blobs: BlobStore, place: StoreLocation, version: Long) = {
    val id = VersionId(version, "")
    val path = s"${place.folder}/${FileKind.Reference.nameOf(id)}"
    val reference = FileReader.open(blobs, path, id, FileKind.Reference)
    val footer =
      try reference.footer
      finally reference.close()
    val manifest = Manifest.open(blobs, PlanName.of(footer).manifest)
    try
      for {
        part <- footer.references.get.parts
        old <- manifest.read(part).members
        file <- old.files
      } yield file.path -> file.length
    finally manifest.close()
  }

  private final class CountingBlobs(inner: BlobStore) extends ForwardingBlobStore(inner) {
    val read = new AtomicLong

    override def open(path: String): BlobReader = new ForwardingBlobReader(inner.open(path)) {
      override def read(position: Long, count: Int): Array[Byte] = {
        CountingBlobs.this.read.addAndGet(count.toLong)
        super.read(position, count)
      }
    }
  }
}
