package io.keyfold.map

import org.scalacheck.{Gen, Shrink}

/** What [[StateMapModel]] can be told to do. Numbers are taken modulo what there is to choose from.
  */
private[map] object MapOperations {
  sealed trait Operation
  final case class Begin(version: Int) extends Operation
  final case class Put(family: Int, key: Int, value: Int) extends Operation
  final case class Append(family: Int, key: Int, value: Int) extends Operation
  final case class Remove(family: Int, key: Int) extends Operation
  final case class RemoveRange(family: Int, start: Int, end: Int) extends Operation
  final case class Drop(family: Int) extends Operation
  final case class Get(family: Int, key: Int) extends Operation
  final case class Values(family: Int, key: Int) extends Operation
  case object Check extends Operation
  final case class OpenCursor(kind: Int, at: Int) extends Operation
  final case class StepCursor(at: Int, count: Int) extends Operation
  final case class CloseCursor(at: Int) extends Operation
  case object Commit extends Operation
  case object Abort extends Operation
  final case class PinVersion(version: Int) extends Operation
  final case class CheckPin(at: Int) extends Operation
  final case class Release(at: Int) extends Operation

  /** @param kept
    *   a bit for each version
    */
  final case class Retain(kept: Int) extends Operation

  private val operation: Gen[Operation] = {
    val any = Gen.choose(0, 255)
    // Some rows are written and read more often than others.
    val row = Gen.oneOf(any, Gen.choose(0, 2))
    Gen.frequency(
      10 -> Gen.zip(any, row, any).map { case (f, k, v) => Put(f, k, v) },
      8 -> Gen.zip(any, row, any).map { case (f, k, v) => Append(f, k, v) },
      6 -> Gen.zip(any, row).map { case (f, k) => Remove(f, k) },
      1 -> Gen.zip(any, any, any).map { case (f, s, e) => RemoveRange(f, s, e) },
      1 -> any.map(Drop),
      2 -> Gen.zip(any, row).map { case (f, k) => Get(f, k) },
      2 -> Gen.zip(any, row).map { case (f, k) => Values(f, k) },
      1 -> Gen.const(Check),
      2 -> Gen.zip(any, any).map { case (kind, at) => OpenCursor(kind, at) },
      3 -> Gen.zip(any, Gen.choose(1, 6)).map { case (at, n) => StepCursor(at, n) },
      2 -> any.map(CloseCursor),
      2 -> Gen.const(Commit),
      1 -> Gen.const(Abort),
      5 -> any.map(Begin),
      1 -> any.map(PinVersion),
      1 -> any.map(CheckPin),
      1 -> any.map(Release),
      1 -> Gen.choose(0, Int.MaxValue).map(Retain)
    )
  }

  val sequences: Gen[List[Operation]] =
    Gen.choose(1, 80).flatMap(n => Gen.listOfN(n, operation))

  val fewer: Shrink[List[Operation]] = Shrink.shrinkContainer[List, Operation]
}
