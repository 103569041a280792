package io.keyfold.testkit

import java.util.HexFormat

import io.keyfold.mem.Slice
import org.scalacheck.Gen

/** A byte string that compares by content and prints as hex. */
final case class Bytes(hex: String) {
  def length: Int = hex.length / 2
  def array: Array[Byte] = HexFormat.of.parseHex(hex)
  def slice: Slice = new Slice().set(array)
  def startsWith(prefix: Bytes): Boolean = hex.startsWith(prefix.hex)
}

object Bytes {
  def of(array: Array[Byte]): Bytes = Bytes(HexFormat.of.formatHex(array))

  /** A copy of what the slice points to. */
  def of(slice: Slice): Bytes = of(slice.toArray)

  def gen(maxLength: Int): Gen[Bytes] =
    for {
      length <- Gen.choose(0, maxLength)
      bytes <- Gen.listOfN(length, Gen.choose(0, 255))
    } yield of(bytes.map(_.toByte).toArray)

  /** As unsigned bytes. */
  implicit val ordering: Ordering[Bytes] = Ordering.by(_.hex)
}
