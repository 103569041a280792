package io.keyfold.servers

import scala.io.StdIn
import scala.util.control.NonFatal

/** Commands that a server reads from its standard input, one a line, until there are no more.
  *
  * Each line is answered by one: `ok` and what was asked for, or `failed` and why. The first line
  * that a server says answers its start, with its address.
  */
private[servers] object Commands {

  /** @param answer
    *   that of a line, by its words
    */
  def obey(address: String)(answer: PartialFunction[List[String], String]): Unit = {
    say(s"ok $address")
    Iterator
      .continually(StdIn.readLine())
      .takeWhile(_ != null)
      .foreach { line =>
        say(
          try s"ok ${answer(line.split(" ").toList)}"
          catch { case NonFatal(e) => s"failed ${e.toString.replace('\n', ' ')}" }
        )
      }
  }

  private def say(line: String): Unit = {
    println(line)
    Console.flush()
  }
}
