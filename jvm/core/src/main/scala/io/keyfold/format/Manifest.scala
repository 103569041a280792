package io.keyfold.format

import java.io.{EOFException, OutputStream}

import io.keyfold.errors.CorruptFile
import io.keyfold.format.wire.{ByteSink, ByteSource, Checksum, Codec}
import io.keyfold.io.{BlobReader, BlobStore, TailCachedReader}

/** The files of a store's partitions before a rescale: docs/FORMAT.md, section 11.
  *
  * @param partitions
  *   number of partitions then
  * @param members
  *   the partitions needed, ascending
  */
final case class Layer(partitions: Int, members: Seq[LayerPartition])

/** The files of one such partition.
  *
  * @param isOnTop
  *   whether the files apply on top of the partition's rows in the layer before
  * @param files
  *   in the order to apply them
  */
final case class LayerPartition(partition: Int, isOnTop: Boolean, files: Seq[FileReference])

/** An open manifest, a rescale's list of old files; parts of layers are read and checked on demand.
  */
final class Manifest private (blob: BlobReader, path: String) extends AutoCloseable {

  /** Reads a part.
    *
    * @throws io.keyfold.errors.CorruptFile
    *   if the part is damaged
    */
  def read(part: ManifestPart): Layer = {
    val name = s"part at ${part.offset}"
    if (part.offset < 0 || part.offset > blob.length - part.storedLength) {
      throw new CorruptFile(path, s"it has ${blob.length} bytes, and no $name")
    }
    val stored =
      try blob.read(part.offset, part.storedLength)
      catch { case e: EOFException => throw new CorruptFile(path, s"it has no $name", e) }
    FileReader.expect(path, name, Checksum.of(stored), part.checksum)
    val raw = FileReader.decompress(path, name, part.codec, stored, part.rawLength)
    Manifest.decode(new ByteSource(raw, 0, raw.length, path, name))
  }

  override def close(): Unit = blob.close()
}

object Manifest {
  private val LeastPartition = 9

  /** Opens a manifest.
    *
    * @param tail
    *   bytes at the end to fetch with the first read
    * @throws java.io.FileNotFoundException
    *   if it does not exist
    */
  def open(blobs: BlobStore, path: String, tail: Int = 0): Manifest =
    new Manifest(new TailCachedReader(blobs.open(path), tail), blobs.describe(path))

  /** Writes parts of layers.
    *
    * @return
    *   their places, in the same order
    */
  def write(blobs: BlobStore, plan: PlanName, parts: Seq[Layer]): Seq[ManifestPart] = {
    var places = Seq.empty[ManifestPart]
    blobs.write(plan.manifest)(out => places = writeTo(out, parts))
    places
  }

  private def writeTo(out: OutputStream, parts: Seq[Layer]): Seq[ManifestPart] = {
    val header = FileWriter.header(Layout.ManifestKind, flags = 0)
    out.write(header.array, 0, header.length)
    val codec = Codec.Zstandard
    var offset = header.length.toLong
    parts.map { layer =>
      val raw = encode(layer)
      val stored = new ByteSink(raw.length)
      codec.compress(raw, stored)
      out.write(stored.array, 0, stored.length)
      val checksum = Checksum.of(stored.array, 0, stored.length)
      val place = ManifestPart(offset, codec, stored.length, raw.length, checksum)
      offset += stored.length
      place
    }
  }

  private def encode(layer: Layer): ByteSink = {
    val out = new ByteSink(1024)
    out.i32(layer.partitions)
    out.i32(layer.members.length)
    layer.members.foreach { it =>
      out.i32(it.partition)
      out.u8(if (it.isOnTop) 1 else 0)
      out.i32(it.files.length)
      it.files.foreach(FooterCodec.reference(out, _))
    }
    out
  }

  private def decode(in: ByteSource): Layer = {
    val partitions = in.i32()
    var next = 0
    val members = Vector.fill(in.count(LeastPartition)) {
      val partition = in.i32()
      if (partition < next || partition >= partitions) {
        in.fail(s"partition $partition of $partitions is out of order")
      }
      next = partition + 1
      val onTop = in.u8()
      if (onTop > 1) in.fail(s"partition $partition has the invalid flag $onTop")
      val files = Vector.fill(in.count(FooterCodec.MinReference))(FooterCodec.reference(in))
      LayerPartition(partition, onTop == 1, files)
    }
    in.end()
    Layer(partitions, members)
  }
}
