package io.keyfold.spark.checkpoint

import java.io.{ByteArrayOutputStream, OutputStream}
import java.util.UUID

import org.apache.hadoop.fs.{FSDataOutputStream, Path}

/** Bytes of an object that must not replace another. Few are kept, so that they can be sent again
  * after a conflict; many go on to the file system, which has them on disk. Belongs to one thread.
  */
private[checkpoint] final class ConditionalBytes(writes: ConditionalWrites, path: Path)
    extends OutputStream {
  private val few = new ByteArrayOutputStream
  private var many: FSDataOutputStream = _
  private val token = UUID.randomUUID.toString

  override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

  override def write(bytes: Array[Byte], offset: Int, count: Int): Unit = {
    if (many == null && few.size + count > ConditionalBytes.Most) {
      many = writes.begin(path, token)
      few.writeTo(many)
      few.reset()
    }
    if (many == null) few.write(bytes, offset, count) else many.write(bytes, offset, count)
  }

  /** Creates the object, with the errors of [[ConditionalWrites.create]]. */
  override def close(): Unit =
    if (many == null) writes.create(path, few.toByteArray, token)
    else writes.end(path, many, token)

  /** Creates nothing. */
  def abort(): Unit = if (many != null) ObjectFileManager.drop(many)
}

private object ConditionalBytes {
  private val Most = 8 * 1024 * 1024
}
