package io.keyfold.testkit

import java.io.{IOException, OutputStream}

import io.keyfold.io.{BlobReader, BlobStore}

/** A store whose operations fail where a test says so. */
final class FaultyBlobStore(inner: BlobStore) extends BlobStore {

  /** Writes of a path for which this holds fail half way; nothing becomes visible. */
  @volatile var failWrite: String => Boolean = _ => false

  override def write(path: String)(body: OutputStream => Unit): Long =
    if (failWrite(path)) {
      body(OutputStream.nullOutputStream)
      throw new IOException(s"injected: cannot write $path")
    } else inner.write(path)(body)

  override def open(path: String): BlobReader = inner.open(path)
  override def exists(path: String): Boolean = inner.exists(path)
  override def list(folder: String): Seq[String] = inner.list(folder)
  override def delete(path: String): Unit = inner.delete(path)
  override def describe(path: String): String = inner.describe(path)
  override def close(): Unit = inner.close()
}
