package io.keyfold.testkit

import TakenApart.{u16, u32, u64, Section}
import io.keyfold.format.wire.{Checksum, Codec}
import org.scalacheck.Gen

/** Changes of files under right checksums: what a writer with a bug, or with bad will, leaves. */
object Lies {

  /** A change, and what it does, for people. */
  final case class Lie(what: String, of: TakenApart => Array[Byte]) {
    override def toString: String = what
  }

  private val numbers: Gen[Long] = Gen.frequency(
    4 -> Gen.oneOf(0L, 1L, 2L, 3L, 255L, 256L, 0xffffL, 0x10000L, 1L << 20, 1L << 24),
    4 -> Gen.oneOf(-1L, -2L, 1L << 30, 0x7fffffffL, 0x80000000L, 0xffffffffL, 0x7ffffff0L),
    2 -> Gen.oneOf(Long.MaxValue, Long.MinValue, Long.MaxValue - 32, 1L << 32, 1L << 62),
    2 -> Gen.choose(0L, 300L),
    1 -> Gen.choose(Long.MinValue, Long.MaxValue)
  )

  private val number: Gen[Array[Byte]] = for {
    width <- Gen.oneOf(1, 2, 4, 8)
    value <- numbers
  } yield u64(value).take(width)

  private val texts: Gen[String] = Gen.frequency(
    3 -> Gen.oneOf("..", ".", "", "/", "../../../../tmp/x", "/tmp/x", "a/../../b", "0/1/../2"),
    2 -> Gen
      .oneOf("\u0000", "a\u0000b", "\u001b[2J", "<script>", "\u202e", "\ud83d\ude00", "C:\\x"),
    1 -> Gen.oneOf("default", "x", "row", "avro", "all", "none", "constant", "prefix:99999999999"),
    1 -> Gen.const("x" * 0xffff)
  )

  /** An overwrite, insertion or removal somewhere in bytes. */
  private def edit(length: Int): Gen[(String, Array[Byte] => Array[Byte])] = {
    val places = Gen.choose(0, math.max(length - 1, 0))
    Gen.frequency(
      8 -> Gen.zip(places, number).map { case (at, bytes) =>
        (s"${Bytes.of(bytes)} at $at", _.patch(at, bytes, bytes.length))
      },
      // Counts are at the beginning.
      3 -> Gen.zip(Gen.oneOf(0, 2, 4), number).map { case (at, bytes) =>
        (s"${Bytes.of(bytes)} at $at", _.patch(at, bytes, bytes.length))
      },
      3 -> Gen.zip(places, Gen.choose(0, 7)).map { case (at, bit) =>
        (s"a flip of bit $bit at $at", b => if (b.isEmpty) b else flipped(b, at, bit))
      },
      2 -> Gen.zip(places, Gen.choose(1, 40)).map { case (at, count) =>
        (s"$count bytes less at $at", _.patch(at, Nil, count))
      },
      2 -> Gen.zip(places, places, Gen.choose(1, 64)).map { case (at, from, count) =>
        (
          s"a copy of $count bytes at $from at $at",
          b => b.patch(at, b.slice(from, from + count), 0)
        )
      }
    )
  }

  private def flipped(bytes: Array[Byte], at: Int, bit: Int) =
    bytes.updated(at, (bytes(at) ^ 1 << bit).toByte)

  /** Places of what looks like a `str`. */
  private def strings(payload: Array[Byte]): Seq[Int] = (0 until payload.length - 2).filter { at =>
    val length = (payload(at) & 0xff) | (payload(at + 1) & 0xff) << 8
    length > 0 && length < 80 && at + 2 + length <= payload.length &&
    payload.slice(at + 2, at + 2 + length).forall(b => b >= 0x20 && b < 0x7f)
  }

  private def text(payload: Array[Byte]): Gen[(String, Array[Byte] => Array[Byte])] =
    strings(payload) match {
      case Nil    => edit(payload.length)
      case places =>
        Gen.zip(Gen.oneOf(places), texts).map { case (at, text) =>
          val length = (payload(at) & 0xff) | (payload(at + 1) & 0xff) << 8
          val bytes = text.getBytes("UTF-8")
          (s"text ${text.take(40)} at $at", _.patch(at, u16(bytes.length) ++ bytes, length + 2))
        }
    }

  private def ofSection(file: TakenApart): Gen[Lie] = for {
    index <- Gen.choose(0, file.sections.length - 1)
    section = file.sections(index)
    (what, change) <- Gen.frequency(3 -> edit(section.payload.length), 1 -> text(section.payload))
  } yield Lie(
    s"section ${section.code}: $what",
    f => f.copy(sections = changed(f.sections, index, change)).together()
  )

  private def changed(sections: Vector[Section], index: Int, by: Array[Byte] => Array[Byte]) =
    sections.updated(index, sections(index).copy(payload = by(sections(index).payload)))

  private def ofSections(file: TakenApart): Gen[Lie] = {
    val index = Gen.choose(0, file.sections.length - 1)
    def lie(what: String)(change: Vector[Section] => Vector[Section]) =
      Lie(what, f => f.copy(sections = change(f.sections)).together())
    Gen.oneOf(
      index.map(i => lie(s"without section number $i")(_.patch(i, Nil, 1))),
      index.map(i => lie(s"section number $i twice")(s => s.patch(i, Seq(s(i)), 0))),
      Gen.zip(index, numbers).map { case (i, n) =>
        lie(s"code $n of section number $i")(s => s.updated(i, s(i).copy(code = n.toInt & 0xffff)))
      },
      Gen.zip(index, numbers).map { case (i, n) =>
        lie(s"flags $n of section number $i")(s =>
          s.updated(i, s(i).copy(flags = n.toInt & 0xffff))
        )
      }
    )
  }

  private def ofBlock(file: TakenApart): Gen[Lie] =
    if (file.blocks.isEmpty) ofSection(file)
    else
      for {
        index <- Gen.choose(0, file.blocks.length - 1)
        (what, change) <- edit(file.blocks(index).length)
      } yield Lie(
        s"block $index: $what",
        f => f.copy(blocks = f.blocks.updated(index, change(f.blocks(index)))).together()
      )

  private val frames: Gen[(Int, Int)] =
    Gen.oneOf(0 -> 5, 0 -> 255, 0 -> 0, 1 -> 2, 1 -> 255, 1 -> 1, 1 -> 0)

  private val ofFrame: Gen[Lie] = frames.map {
    case (0, kind)  => Lie(s"kind $kind", f => f.copy(kind = kind).together())
    case (_, flags) => Lie(s"flags $flags", f => f.copy(flags = flags).together())
  }

  /** A footer that says it holds `promised` bytes, in its frame too, where it has one. */
  private val ofFooter: Gen[Lie] =
    Gen.zip(Gen.oneOf(Codec.all), numbers).map { case (codec, promised) =>
      val of = (f: TakenApart) => {
        val stored = codec match {
          case Codec.Zstandard => promising(promised & 0xffffffffL, 300)
          case other           => TakenApart.compressed(other, new Array[Byte](300))
        }
        f.framed(Array.emptyByteArray, stored, promised.toInt, codec.code)
      }
      Lie(s"a footer of codec ${codec.name} that promises ${promised & 0xffffffffL} bytes", of)
    }

  /** A block table of one block whose frame promises more than it has. */
  private val ofBlockLength: Gen[Lie] = numbers.map { promised =>
    val stored = promising(promised & 0xffffffffL, 300)
    Lie(
      s"a block that promises ${promised & 0xffffffffL} bytes",
      f =>
        f.copy(sections = f.sections.map(s => if (s.code == 5) oneBlock(stored, promised) else s))
          .around(stored)
    )
  }

  private def oneBlock(stored: Array[Byte], promised: Long) = Section(
    TakenApart.Blocks,
    1,
    u32(1) ++ u16(0) ++ Array(Codec.Zstandard.code.toByte) ++ u64(16) ++ u32(stored.length) ++
      u32(promised.toInt) ++ u32(1) ++ u32(Checksum.of(stored))
  )

  /** A Zstandard frame that promises some bytes and holds `held` zeros: RFC 8878, section 3.1. */
  def promising(promised: Long, held: Int): Array[Byte] =
    // One segment, 8 bytes of content size; one block, the last one, of one byte repeated.
    u32(0xfd2fb528) ++ Array(0xe0.toByte) ++ u64(promised) ++ u32(held << 3 | 3).take(3) ++
      Array(0.toByte)

  /** Changes of this file. */
  def of(file: TakenApart): Gen[Lie] = {
    Gen.frequency(
      10 -> ofSection(file),
      6 -> ofBlock(file),
      2 -> ofSections(file),
      1 -> ofFrame,
      1 -> ofFooter,
      1 -> ofBlockLength
    )
  }

  /** Changes that are none: the file holds the same. */
  val harmless: Gen[Lie] = Gen.oneOf(
    Gen.const(
      Lie("sections the other way round", f => f.copy(sections = f.sections.reverse).together())
    ),
    Gen
      .oneOf(Codec.all)
      .map(c => Lie(s"a footer of codec ${c.name}", _.copy(codec = c).together())),
    Gen.zip(Gen.choose(100, 0xff00), Bytes.gen(50)).map { case (from, payload) =>
      def later(file: TakenApart) = {
        val known = file.sections.map(_.code).toSet
        Section(Iterator.from(from).filterNot(known).next(), 0, payload.array)
      }
      Lie(
        s"a section $from of a later release",
        f => f.copy(sections = later(f) +: f.sections).together()
      )
    }
  )
}
