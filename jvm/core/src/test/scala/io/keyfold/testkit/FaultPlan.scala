package io.keyfold.testkit

import java.io.IOException
import java.nio.file.AccessDeniedException

import scala.collection.mutable

/** One thing that a store of files was asked to do.
  *
  * @param what
  *   name of the operation, such as `write`
  * @param path
  *   of the file, or as much of it as is the same in every run
  * @param bytes
  *   length of what was written; 0 for all that does not write
  */
final case class FileCall(what: String, path: String, bytes: Int = 0) {
  override def toString: String = s"$what $path"
}

/** How a call fails. */
sealed trait Failure

object Failure {

  /** Without having done anything. */
  case object Before extends Failure

  /** Having done everything. */
  case object After extends Failure

  /** Of a write: with so many bytes written. */
  final case class Within(bytes: Int) extends Failure

  /** Of what asks for files: it answers as if there were none. */
  case object Unseen extends Failure

  /** Of a rename: it finds that a file of that name is there, if one is. */
  case object Taken extends Failure

  /** Of a close: it fails, and is done when the test says so. */
  case object Late extends Failure

  /** Of a kind that nobody takes for one that passes, and so tries again after a pause. */
  def error(call: FileCall): IOException = new AccessDeniedException(s"injected: $call")
}

/** The call of a run that fails: the `nth` of its kind, from 0, and each later one, so that trying
  * again does not help.
  */
final case class Fault(call: FileCall, nth: Int, how: Failure) {
  override def toString: String = s"call ${nth + 1} of $call fails: $how"
}

object Fault {

  /** All that can go wrong in a run that made these calls, one fault at a time. */
  def all(calls: Seq[FileCall])(failures: FileCall => Seq[Failure]): Seq[Fault] = {
    val seen = mutable.Map.empty[(String, String), Int].withDefaultValue(0)
    calls.flatMap { call =>
      val key = (call.what, call.path)
      val nth = seen(key)
      seen(key) = nth + 1
      failures(call).map(Fault(call, nth, _))
    }
  }

  /** The same for the first and the last call of each kind: of files whose paths differ in numbers
    * and ids only.
    */
  def ofEachKind(calls: Seq[FileCall])(failures: FileCall => Seq[Failure]): Seq[Fault] = {
    val faults = all(calls)(failures)
    def kind(of: Fault) = (of.call.what, of.call.path.replaceAll("[0-9a-f-]{8,}|\\d+", "#"), of.how)
    faults.groupBy(kind).values.flatMap(it => Set(it.head, it.last)).toSeq.sortBy(faults.indexOf)
  }

  /** Places to break off a write of so many bytes: at both ends, and some between. */
  def within(bytes: Int): Seq[Failure] =
    Seq(0, 1, bytes / 4, bytes / 2, bytes - 1, bytes).distinct.map(Failure.Within(_))
}

/** Decides about each call of a store, and writes down what was asked. Any thread may ask. */
final class FaultPlan {
  private val recorded = mutable.Buffer.empty[FileCall]
  private val seen = mutable.Map.empty[(String, String), Int].withDefaultValue(0)
  private var fault: Option[Fault] = None
  private var gates: List[(FileCall => Boolean, Gate)] = Nil
  private var rules: List[(FileCall => Boolean, Failure)] = Nil
  private var passing: Option[(FileCall => Boolean, Int)] = None
  private var failed = false
  @volatile private var chance: FileCall => Option[Failure] = _ => None

  /** Calls since the last `arm` or `clear`. */
  def calls: Seq[FileCall] = synchronized(recorded.toList)

  /** Whether a call has failed since then. */
  def hasFailed: Boolean = synchronized(failed)

  /** From now on this one fails. */
  def arm(fault: Fault): Unit = synchronized {
    clear()
    this.fault = Some(fault)
  }

  /** From now on each call like this fails. */
  def fail(how: Failure)(which: FileCall => Boolean): Unit =
    synchronized(rules ::= ((which, how)))

  /** The next calls like this, so many, fail before they do anything, in a way that may pass. */
  def failPassing(times: Int)(which: FileCall => Boolean): Unit =
    synchronized { passing = Some((which, times)) }

  /** The next call like this waits at the gate that is returned. */
  def hold(which: FileCall => Boolean): Gate = synchronized {
    val gate = new Gate
    gates ::= ((which, gate))
    gate
  }

  /** From now on this says of each call how it fails, if it does; it may wait first, or throw. */
  def decide(chance: FileCall => Option[Failure]): Unit = this.chance = chance

  /** From now on nothing fails, and nothing waits that has not come to its gate. */
  def clear(): Unit = synchronized {
    recorded.clear()
    seen.clear()
    fault = None
    gates = Nil
    rules = Nil
    passing = None
    failed = false
    chance = _ => None
  }

  /** What is to become of a call, once it has passed its gate. */
  def ask(call: FileCall): Option[Failure] = {
    val gate = synchronized {
      val found = gates.find { case (which, _) => which(call) }
      found.foreach(taken => gates = gates.filterNot(_ eq taken))
      found.map(_._2)
    }
    gate.foreach(_.pass())
    throwPassing(call)
    val decided = chance(call)
    synchronized {
      recorded += call
      val key = (call.what, call.path)
      val nth = seen(key)
      seen(key) = nth + 1
      val how = fault
        .collect { case f if (f.call.what, f.call.path) == key && nth >= f.nth => f.how }
        .orElse(rules.collectFirst { case (which, how) if which(call) => how })
        .orElse(decided)
      failed ||= how.nonEmpty
      how
    }
  }

  private def throwPassing(call: FileCall): Unit = synchronized {
    passing.filter { case (which, left) => left > 0 && which(call) }.foreach { case (which, left) =>
      passing = Some((which, left - 1))
      throw new IOException(s"injected, and it passes: $call")
    }
  }

  /** Notes the length of a write that has ended. */
  def wrote(call: FileCall, bytes: Int): Unit = synchronized {
    val at = recorded.lastIndexOf(call)
    if (at >= 0) recorded(at) = call.copy(bytes = bytes)
  }
}
