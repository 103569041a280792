package io.keyfold.testkit

import java.io.EOFException

import io.keyfold.io.{BlobReader, BlobStore, ListedFile}

/** Lists what `listing` makes of the truth, and believes what it has listed of a file. */
final class LaggingBlobStore(inner: BlobStore, listing: Map[String, Long] => Map[String, Long])
    extends ForwardingBlobStore(inner) {
  override def files(folder: String): Map[String, ListedFile] =
    listing(inner.lengths(folder)).map { case (name, length) => name -> new ListedFile(length) }

  override def open(path: String, listed: ListedFile): BlobReader =
    new ForwardingBlobReader(inner.open(path)) {
      override def length: Long = listed.length

      override def read(position: Long, count: Int): Array[Byte] =
        if (position + count > length) throw new EOFException(path) else super.read(position, count)
    }
}
