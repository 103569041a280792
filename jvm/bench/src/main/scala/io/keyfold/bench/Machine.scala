package io.keyfold.bench

import java.lang.management.ManagementFactory

import scala.sys.process._
import scala.util.Try

import com.sun.management.OperatingSystemMXBean

/** Where and on what code results were made.
  *
  * @param commit
  *   with `+` behind it if something was not committed
  * @param memoryGiB
  *   of the machine
  */
final case class Machine(commit: String, jvm: String, cores: Int, memoryGiB: Long)

object Machine {
  def current(): Machine = {
    val system = ManagementFactory.getOperatingSystemMXBean.asInstanceOf[OperatingSystemMXBean]
    Machine(
      commit(),
      s"${System.getProperty("java.vm.name")} ${System.getProperty("java.runtime.version")}",
      system.getAvailableProcessors,
      math.round(system.getTotalMemorySize.toDouble / (1L << 30))
    )
  }

  /** What git says; a copy without git has no commit. */
  private def commit(): String = {
    def git(arguments: String*) = Try(
      (("git" +: arguments): Seq[String]).!!(ProcessLogger(_ => ())).trim
    )
    val changed = git("status", "--porcelain", "--", "jvm/core", "jvm/spark", "jvm/bench")
    val name = git("rev-parse", "--short=12", "HEAD").getOrElse("unknown")
    if (changed.toOption.forall(_.isEmpty)) name else s"$name+"
  }
}
