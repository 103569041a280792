package io.keyfold.mem

import io.keyfold.mem.page.PagePool
import io.keyfold.testkit.Gate

/** Memory whose next taking from the system, once it is told to, waits at a gate: in the middle of
  * whatever call needs it.
  */
final class HeldMemory {
  @volatile private var held: Option[Gate] = None

  val pool: PagePool = new PagePool(
    1L << 30,
    None,
    bytes => {
      val gate = held
      held = None
      gate.foreach(_.pass())
      Mem.allocate(bytes)
    }
  )

  /** The gate that the next call waits at. */
  def holdNext(): Gate = {
    val gate = new Gate
    held = Some(gate)
    gate
  }
}
