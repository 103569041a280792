package io.keyfold.rescale

import java.io.{ByteArrayOutputStream, FileNotFoundException, OutputStream}
import java.util.concurrent.atomic.LongAdder

import io.keyfold.format.wire.Codec
import io.keyfold.format.{Ancestor, FileKind, FileWriter, Identity}
import io.keyfold.io.{BlobReader, ListedFile}
import io.keyfold.model.{Family, VersionId}
import io.keyfold.store.StoreFixture
import io.keyfold.testkit.{ForwardingBlobStore, MemoryBlobStore}

/** Files of a store of many partitions, made up when they are asked for: of each partition deltas
  * of versions 1 to `versions`, whose entries nobody looks at. What is written is kept.
  */
final class SimulatedStore(partitions: Int, keyGroups: Int, val versions: Int)
    extends ForwardingBlobStore(new MemoryBlobStore) {
  val lists, opens, writes, writtenBytes = new LongAdder

  private val Own = """state/0/(\d+)/(\d+)\.delta""".r
  private val Folder = """state/0/(\d+)""".r

  override def files(folder: String): Map[String, ListedFile] = {
    lists.increment()
    val made = folder match {
      case Folder(p) if p.toInt < partitions =>
        (1 to versions).map(v => s"$v.delta" -> new ListedFile(1000)).toMap
      case _ => Map.empty[String, ListedFile]
    }
    made ++ super.files(folder)
  }

  override def open(path: String): BlobReader = {
    opens.increment()
    path match {
      case Own(p, v) if p.toInt < partitions && v.toInt <= versions =>
        new SimulatedStore.Bytes(delta(p.toInt, v.toLong))
      case Own(_, _) => throw new FileNotFoundException(path)
      case _         => super.open(path)
    }
  }

  override def write(path: String)(body: OutputStream => Unit): Long = {
    writes.increment()
    val length = super.write(path)(body)
    writtenBytes.add(length)
    length
  }

  private def delta(partition: Int, version: Long): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val file = new FileWriter(out, FileKind.Delta, Codec.Plain, rowChecksums = false)
    val identity =
      Identity(VersionId(version), 0, partition, "default", partitions, keyGroups, 0, "simulated")
    val lineage = (version - 1 to 1 by -1).map(v => Ancestor(VersionId(v), FileKind.Delta))
    file.finish(identity, lineage, Seq(Family(StoreFixture.rowFamily, 7, 7, 100)))
    out.toByteArray
  }
}

private object SimulatedStore {
  final class Bytes(bytes: Array[Byte]) extends BlobReader {
    override def length: Long = bytes.length.toLong
    override def read(position: Long, count: Int): Array[Byte] =
      java.util.Arrays.copyOfRange(bytes, position.toInt, position.toInt + count)
    override def close(): Unit = ()
  }
}
