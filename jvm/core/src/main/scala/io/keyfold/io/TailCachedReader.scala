package io.keyfold.io

/** Fetches the end of the file, where footers are, in one request and serves reads from it. Most
  * deltas are read whole by that request.
  *
  * @param tail
  *   bytes to fetch
  */
final class TailCachedReader(inner: BlobReader, tail: Int = TailCachedReader.Tail)
    extends BlobReader {
  override val length: Long = inner.length
  private val cachedFrom = math.max(0L, length - tail)
  private var cached: Array[Byte] = _

  override def read(position: Long, count: Int): Array[Byte] = {
    val end = position + count
    if (end > length || end <= cachedFrom) inner.read(position, count)
    else if (position >= cachedFrom) {
      if (cached == null) cached = inner.read(cachedFrom, (length - cachedFrom).toInt)
      val from = (position - cachedFrom).toInt
      java.util.Arrays.copyOfRange(cached, from, from + count)
    } else if (cached == null) inner.read(position, count)
    else {
      val before = (cachedFrom - position).toInt
      val bytes = java.util.Arrays.copyOf(inner.read(position, before), count)
      System.arraycopy(cached, 0, bytes, before, count - before)
      bytes
    }
  }

  override def close(): Unit = {
    cached = null
    inner.close()
  }
}

object TailCachedReader {
  val Tail: Int = 64 * 1024
}
