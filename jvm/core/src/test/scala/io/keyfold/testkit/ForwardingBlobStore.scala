package io.keyfold.testkit

import java.io.OutputStream

import io.keyfold.io.{BlobReader, BlobStore, ListedFile}

/** Does what `inner` does, but for what a test overrides. */
class ForwardingBlobStore(inner: BlobStore) extends BlobStore {
  override def write(path: String)(body: OutputStream => Unit): Long = inner.write(path)(body)
  override def open(path: String): BlobReader = inner.open(path)
  override def exists(path: String): Boolean = inner.exists(path)
  override def files(folder: String): Map[String, ListedFile] = inner.files(folder)
  override def delete(path: String): Unit = inner.delete(path)
  override def describe(path: String): String = inner.describe(path)
  override def close(): Unit = inner.close()
}

/** Does what `inner` does, but for what a test overrides. */
class ForwardingBlobReader(inner: BlobReader) extends BlobReader {
  override def length: Long = inner.length
  override def read(position: Long, count: Int): Array[Byte] = inner.read(position, count)
  override def close(): Unit = inner.close()
}
