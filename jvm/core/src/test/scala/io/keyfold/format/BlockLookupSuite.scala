package io.keyfold.format

import scala.util.Random

import io.keyfold.errors.CorruptFile
import io.keyfold.format.wire.Codec
import io.keyfold.mem.Slice
import io.keyfold.testkit.{FileContents, MemoryBlobStore}
import org.scalatest.funsuite.AnyFunSuite

class BlockLookupSuite extends AnyFunSuite with DamagedFiles {
  private val name = "5.snapshot"

  private def opened(codec: Codec, rowChecksums: Boolean): FileReader = {
    val blobs = new MemoryBlobStore
    blobs.put(name, fileOf(codec, rowChecksums))
    FileContents.open(blobs, name)
  }

  private def key(text: String) = new Slice().set(text.getBytes)

  for (codec <- Codec.all; rowChecksums <- Seq(false, true)) {
    test(s"$codec, checksums of rows $rowChecksums: each key is found with its value, no other") {
      val file = opened(codec, rowChecksums)
      for (index <- file.footer.blocks.indices) {
        val stored = file.stored(index, index + 1)
        val (entries, lookup) =
          (file.entriesOf(index, stored), file.lookupOf(index, stored, new Array[Byte](_)))
        for (i <- 0 until entries.size) {
          val (wanted, found) = (new Slice, new Slice)
          val of = entries.key(i, new Slice)
          assert(lookup.find(entries.hash(i), of, 0, entries.size) == i)
          assert(lookup.find(entries.hash(i), of, i + 1, entries.size) == -1)
          assert(lookup.find(entries.hash(i), of, 0, i) == -1)
          assert(lookup.find(entries.hash(i), key("none"), 0, entries.size) == -1)
          assert(lookup.find(entries.hash(i) + 1, of, 0, entries.size) == -1)
          assert(lookup.value(i, found))
          assert(found.toArray.sameElements(entries.value(i, 0, wanted).toArray))
        }
        intercept[CorruptFile](lookup.find(1, key("none"), 0, entries.size + 1))
      }
    }
  }

  test("an entry whose row checksum is another is not taken") {
    val file = opened(Codec.Plain, rowChecksums = true)
    val raw = file.stored(0, 1)
    val entries = file.entriesOf(0, raw.clone())
    val lookup = file.lookupOf(0, raw, new Array[Byte](_))
    raw(raw.length - 1) = (raw.last ^ 1).toByte
    assert(lookup.value(0, new Slice))
    intercept[CorruptFile](lookup.value(entries.size - 1, new Slice))
  }

  test("of a block whose bytes were changed a key is found, or not, or the file is corrupt") {
    val random = new Random(7)
    val file = opened(Codec.Plain, rowChecksums = false)
    var refused = 0
    for (_ <- 1 to 20000) {
      val index = random.nextInt(file.footer.blocks.size)
      val raw = file.stored(index, index + 1)
      val entries = file.entriesOf(index, raw.clone())
      for (_ <- 0 to random.nextInt(4)) raw(random.nextInt(raw.length)) = random.nextInt(256).toByte
      try {
        val lookup =
          new BlockLookup(raw, raw.length, entries.size, false, false, name, "a block")
        for (i <- 0 until entries.size) {
          lookup.find(entries.hash(i), entries.key(i, new Slice), 0, entries.size)
          lookup.value(i, new Slice)
        }
      } catch { case _: CorruptFile => refused += 1 }
    }
    assert(refused > 5000)
  }
}
