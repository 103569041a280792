package io.keyfold.spark.checkpoint

import java.io.EOFException

import io.keyfold.io.BlobReader
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus}

/** Reads an object by as few requests as its reader's order of ranges allows: ranges that follow
  * each other come from one request for all that is left, others from one of their own.
  */
private[checkpoint] final class ObjectReader(files: ObjectFileManager, file: FileStatus)
    extends BlobReader {
  override val length: Long = file.getLen
  private var inOrder, atRandom: FSDataInputStream = _
  private var next = 0L

  override def read(position: Long, count: Int): Array[Byte] = {
    if (position + count > length) throw new EOFException(s"$length of ${file.getPath}")
    val bytes = new Array[Byte](count)
    if (position > 0 && position >= next && position - next <= ObjectReader.Gap) {
      if (inOrder == null) inOrder = files.openFile(file, "sequential")
      inOrder.readFully(position, bytes)
      next = position + count
    } else {
      if (atRandom == null) atRandom = files.openFile(file, "random")
      atRandom.readFully(position, bytes)
    }
    bytes
  }

  override def close(): Unit =
    try if (inOrder != null) inOrder.close()
    finally if (atRandom != null) atRandom.close()
}

private object ObjectReader {

  /** Bytes that it is cheaper to read and drop than to ask anew. */
  private val Gap = 64 * 1024L
}
