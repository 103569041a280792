package io.keyfold.format

import java.lang.management.ManagementFactory
import java.nio.{ByteBuffer, ByteOrder}

import com.sun.management.ThreadMXBean
import io.keyfold.errors.{CorruptFile, StoreError, UnreadableVersion}
import io.keyfold.format.wire.{ByteSink, Checksum, Codec}
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.testkit.{Bytes, Lies, MemoryBlobStore, SeededChecks, StoreReader, TakenApart}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Wrong bytes under right checksums, as a bug of a writer would leave them: whatever they are read
  * as, they never make a reader fail otherwise than by a [[io.keyfold.errors.StoreError]].
  */
class SealedDamageSuite extends AnyFunSuite with SeededChecks with DamagedFiles {
  private def trailerOf(bytes: Array[Byte]): ByteBuffer =
    ByteBuffer.wrap(bytes.takeRight(32)).order(ByteOrder.LITTLE_ENDIAN)

  private def footerStart(bytes: Array[Byte]): Int =
    bytes.length - 32 - trailerOf(bytes).getInt(8)

  private def compressed(codec: Codec, raw: Array[Byte]): Array[Byte] = {
    val (from, to) = (new ByteSink, new ByteSink(1))
    from.bytes(raw, raw.length)
    codec.compress(from, to)
    java.util.Arrays.copyOf(to.array, to.length)
  }

  private def rawFooter(footer: Footer): Array[Byte] = {
    val sink = FooterCodec.encode(footer)
    sink.array.take(sink.length)
  }

  /** The file with another footer, given as it is stored. */
  private def withFooter(
      bytes: Array[Byte],
      stored: Array[Byte],
      rawLength: Int,
      codec: Int
  ): Array[Byte] = {
    val body = bytes.take(footerStart(bytes))
    val trailer = trailerOf(bytes)
      .putLong(0, body.length + stored.length + 32L)
      .putInt(8, stored.length)
      .putInt(12, rawLength)
      .put(16, codec.toByte)
    body ++ stored ++ resealed(stored, trailer)
  }

  private def withFooter(bytes: Array[Byte], raw: Array[Byte]): Array[Byte] =
    withFooter(bytes, raw, raw.length, codec = 0)

  /** The trailer's bytes with the checksum that they and the footer must have. */
  private def resealed(stored: Array[Byte], trailer: ByteBuffer): Array[Byte] =
    trailer.putInt(24, Checksum.of(stored ++ trailer.array.take(24))).array

  /** The file with other bytes in a block's place, as many as before. */
  private def withBlock(bytes: Array[Byte], index: Int, stored: Array[Byte]): Array[Byte] = {
    val footer = read(bytes).footer
    val block = footer.blocks(index)
    val blocks = footer.blocks.updated(index, block.copy(checksum = Checksum.of(stored)))
    withFooter(
      bytes.patch(block.offset.toInt, stored, stored.length),
      rawFooter(footer.copy(blocks = blocks))
    )
  }

  private def storedBlock(bytes: Array[Byte], block: Block): Array[Byte] =
    bytes.slice(block.offset.toInt, block.offset.toInt + block.storedLength)

  for (codec <- Codec.all) {
    val bytes = fileOf(codec, rowChecksums = false)

    test(s"a file with codec ${codec.name} is read as before under a footer of any codec") {
      val whole = read(bytes)
      val raw = rawFooter(whole.footer)
      for (other <- Codec.all) {
        val stored = compressed(other, raw)
        assert(read(withFooter(bytes, stored, raw.length, other.code)) == whole)
      }
    }

    test(s"any wrong footer of a file with codec ${codec.name} is refused, or read") {
      val raw = rawFooter(read(bytes).footer)
      for (at <- raw.indices; bit <- 0 to 7) {
        val changed = raw.updated(at, (raw(at) ^ 1 << bit).toByte)
        readOrRefuse(withFooter(bytes, changed), s"a flip of bit $bit of byte $at")
      }
      val runs = Gen.zip(Gen.choose(0, raw.length - 1), Bytes.gen(16))
      forEach(runs, 1000) { case (at, run) =>
        val changed = raw.patch(at, run.array, run.length).take(raw.length)
        readOrRefuse(withFooter(bytes, changed), s"an overwrite at $at of $run")
      }
    }

    test(s"a file with codec ${codec.name} whose key group has other bytes is not loaded") {
      val footer = read(bytes).footer
      def loaded(more: Long): Unit = {
        val runs = new GroupRuns.Builder(0)
        for (g <- footer.groups) {
          val size = g.bytes + (if (g.group == 1) more else 0)
          runs.add(g.family, g.group, g.block, g.entry, g.entries, size)
        }
        val blobs = new MemoryBlobStore
        val file = withFooter(bytes, rawFooter(footer.copy(groups = runs.result())))
        blobs.put("state/0/0/5.snapshot", file)
        StoreReader.read(blobs, StoreLocation(0, 0, "default"), 1, VersionId(5))(_ => ())
      }
      loaded(0)
      for (more <- Seq(-1L, 1L)) {
        assert(intercept[UnreadableVersion](loaded(more)).getMessage.contains("key group 1 has"))
      }
    }

    test(s"any wrong stored footer of a file with codec ${codec.name} is refused, or read") {
      val rawLength = trailerOf(bytes).getInt(12)
      val stored = bytes.slice(footerStart(bytes), bytes.length - 32)
      val runs = Gen.zip(Gen.choose(0, stored.length - 1), Bytes.gen(16))
      forEach(runs, 1000) { case (at, run) =>
        val changed = stored.patch(at, run.array, run.length).take(stored.length)
        val file = withFooter(bytes, changed, rawLength, codec.code)
        readOrRefuse(file, s"an overwrite at $at of $run")
      }
    }

    test(s"any wrong block of a file with codec ${codec.name} is refused, or read") {
      val blocks = read(bytes).footer.blocks
      val changes = for {
        index <- Gen.choose(0, blocks.length - 1)
        at <- Gen.choose(0, blocks(index).storedLength - 1)
        run <- Gen.oneOf(Bytes.gen(4), Gen.const(Bytes("ffffffff")), Gen.const(Bytes("00000080")))
      } yield (index, at, run)
      forEach(changes, 1000) { case (index, at, run) =>
        val stored = storedBlock(bytes, blocks(index))
        val changed = stored.patch(at, run.array, run.length).take(stored.length)
        val file = withBlock(bytes, index, changed)
        readOrRefuse(file, s"an overwrite at $at of block $index of $run")
      }
    }

    test(s"a block of a raw length that ${codec.name} cannot give is refused before it is made") {
      val footer = read(bytes).footer
      val right = footer.blocks.head.rawLength
      for (rawLength <- Seq(0, right - 1, right + 1, 1 << 30, Int.MaxValue)) {
        val blocks = footer.blocks.updated(0, footer.blocks.head.copy(rawLength = rawLength))
        val file = withFooter(bytes, rawFooter(footer.copy(blocks = blocks)))
        val found = readOrRefuse(file, s"raw length $rawLength")
        assert(found.isEmpty, s"with raw length $rawLength")
      }
    }

    test(s"a footer of a raw length that ${codec.name} cannot give is refused before it is made") {
      val right = trailerOf(bytes).getInt(12)
      val stored = bytes.slice(footerStart(bytes), bytes.length - 32)
      for (rawLength <- Seq(0, right - 1, right + 1, 1 << 30, Int.MaxValue, -1)) {
        val file = withFooter(bytes, stored, rawLength, codec.code)
        val found = readOrRefuse(file, s"raw length $rawLength")
        assert(found.isEmpty, s"with raw length $rawLength")
      }
    }
  }

  private val plain = fileOf(Codec.Plain, rowChecksums = false)

  private def allocated(body: => Any): Long = {
    val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]
    val before = threads.getCurrentThreadAllocatedBytes
    body
    threads.getCurrentThreadAllocatedBytes - before
  }

  test("a zstd frame that promises more than its blocks hold makes nobody allocate that") {
    for (promised <- Seq(301, 1 << 20, 1 << 30, Int.MaxValue)) {
      val stored = Lies.promising(promised.toLong, held = 300)
      val file = withFooter(plain, stored, promised, Codec.Zstandard.code)
      val bytes = allocated(intercept[CorruptFile](read(file)))
      assert(bytes < (1 << 19), s"for a promise of $promised")
      val footer = read(plain).footer
      val block = footer.blocks.head.copy(
        codec = Codec.Zstandard,
        storedLength = stored.length,
        rawLength = promised,
        checksum = Checksum.of(stored)
      )
      val run = footer.groups.head.copy(entries = block.entries)
      val one = footer.copy(blocks = IndexedSeq(block), groups = IndexedSeq(run))
      val body = plain.take(16) ++ stored ++ plain.drop(footerStart(plain))
      val lying = withFooter(body, rawFooter(one))
      assert(
        allocated(intercept[CorruptFile](read(lying))) < (1 << 19),
        s"for $promised in a block"
      )
    }
    val right = Lies.promising(300, held = 300)
    assert(Codec.Zstandard.decompress(right, 300).toSeq == Seq.fill(300)(0.toByte))
  }

  test("a zstd frame that is cut off, or goes on, is refused") {
    val frame = Lies.promising(300, held = 300)
    for (length <- frame.indices)
      intercept[IllegalArgumentException](Codec.Zstandard.decompress(frame.take(length), 300))
    intercept[IllegalArgumentException](Codec.Zstandard.decompress(frame ++ frame, 300))
  }

  test("a footer that holds far more than it is long is refused") {
    val raw = rawFooter(read(plain).footer)
    val padding = Array[Byte](1, 1, 0, 0) ++ TakenApart.u32(1 << 21) ++ new Array[Byte](1 << 21)
    val stored = compressed(Codec.Zstandard, raw ++ padding)
    val bomb = withFooter(plain, stored, raw.length + padding.length, Codec.Zstandard.code)
    assert(intercept[CorruptFile](read(bomb)).getMessage.contains("cannot have"))
  }

  test("a footer of a codec that is not known is refused") {
    val raw = rawFooter(read(plain).footer)
    for (codec <- Seq(3, 255))
      intercept[StoreError](read(withFooter(plain, raw, raw.length, codec)))
  }

  test("every flipped bit of the header is refused, whatever its checksum") {
    for (at <- 0 until 12; bit <- 0 to 7) {
      val header = plain.take(12).updated(at, (plain(at) ^ 1 << bit).toByte)
      val sum = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(Checksum.of(header))
      val found = readOrRefuse(header ++ sum.array ++ plain.drop(16), s"bit $bit of byte $at")
      assert(found.isEmpty, s"with bit $bit of byte $at flipped")
    }
  }

  test("every flipped bit of the trailer is refused, whatever its checksum") {
    val stored = plain.slice(footerStart(plain), plain.length - 32)
    for (at <- (0 until 24) ++ (28 until 32); bit <- 0 to 7) {
      val trailer = trailerOf(plain)
      trailer.put(at, (trailer.get(at) ^ 1 << bit).toByte)
      val file = plain.dropRight(32) ++ resealed(stored, trailer)
      val found = readOrRefuse(file, s"bit $bit of byte $at")
      assert(found.isEmpty, s"with bit $bit of byte $at flipped")
    }
  }

  test("kind and flags that header and trailer agree on are refused when they are wrong") {
    for ((at, wrong) <- Seq(6 -> 0, 6 -> 1, 6 -> 4, 7 -> 2, 7 -> 128)) {
      val header = plain.take(12).updated(at, wrong.toByte)
      val sum = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(Checksum.of(header))
      val trailer = trailerOf(plain).put(at + 14, wrong.toByte)
      val stored = plain.slice(footerStart(plain), plain.length - 32)
      val file =
        header ++ sum.array ++ plain.slice(16, plain.length - 32) ++ resealed(stored, trailer)
      assert(readOrRefuse(file, s"$wrong at $at").isEmpty, s"with $wrong at $at")
    }
  }

  test("blocks that do not fill the space between header and footer are refused") {
    val footer = read(plain).footer
    def assertRefused(changed: IndexedSeq[Block], what: String) = {
      val file = withFooter(plain, rawFooter(footer.copy(blocks = changed)))
      assert(readOrRefuse(file, what).isEmpty, s"with $what")
    }
    val first = footer.blocks.head
    val second = footer.blocks(1)
    for (offset <- Seq(Long.MaxValue, Long.MaxValue - 100, -1L, Long.MinValue, 0L, 15L, 17L)) {
      assertRefused(footer.blocks.updated(0, first.copy(offset = offset)), s"offset $offset")
    }
    for (length <- Seq(0, first.storedLength - 1, first.storedLength + 1, Int.MaxValue)) {
      assertRefused(footer.blocks.updated(0, first.copy(storedLength = length)), s"length $length")
    }
    assertRefused(
      footer.blocks.updated(1, second.copy(offset = first.offset)),
      "two blocks at one place"
    )
    val longer = plain.patch(footerStart(plain), new Array[Byte](5), 0)
    val gap = withFooter(longer, rawFooter(footer))
    assert(readOrRefuse(gap, "bytes behind the last block").isEmpty)
  }

  test("a row checksum tells of a wrong row in a block whose own checksum is right") {
    val bytes = fileOf(Codec.Plain, rowChecksums = true)
    val block = read(bytes).footer.blocks.head
    // Behind the columns lie keys and values alone.
    val rows = block.entries * (8 + 40)
    for (at <- block.storedLength - rows until block.storedLength) {
      val stored = storedBlock(bytes, block)
      stored(at) = (stored(at) + 1).toByte
      val found = readOrRefuse(withBlock(bytes, 0, stored), s"a change of byte $at")
      assert(found.isEmpty, s"with a change of byte $at")
    }
  }

  test("an entry that is not of the key group it is listed under is refused") {
    val footer = read(plain).footer
    val groups = footer.groups.updated(1, footer.groups(1).copy(group = 5))
    val file = withFooter(plain, rawFooter(footer.copy(groups = groups)))
    assert(readOrRefuse(file, "another group").isEmpty)
  }
}
