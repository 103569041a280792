package io.keyfold.io

/** A reader that fetches the end of the file at once, where footers are, and serves from it what
  * lies there; most deltas are read whole this way by a single request.
  *
  * @param tail
  *   bytes to fetch
  */
final class TailCachedReader(inner: BlobReader, tail: Int = 64 * 1024) extends BlobReader {
  override val length: Long = inner.length
  private val cachedFrom = math.max(0L, length - tail)
  private lazy val cached = inner.read(cachedFrom, (length - cachedFrom).toInt)

  override def read(position: Long, count: Int): Array[Byte] =
    if (position < cachedFrom || position + count > length) inner.read(position, count)
    else {
      val from = (position - cachedFrom).toInt
      java.util.Arrays.copyOfRange(cached, from, from + count)
    }

  override def close(): Unit = inner.close()
}
