package io.keyfold.spark.checkpoint

import java.io.{InputStream, OutputStream}
import java.net.{InetAddress, ServerSocket, Socket}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.concurrent.atomic.AtomicReference

import scala.util.Try

/** Stands between an HTTP client and its server. [[next]] decides what happens to the next PUT. */
final class FaultyWire(port: Int) extends AutoCloseable {
  import FaultyWire._

  private val listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress)
  val next = new AtomicReference[Fault](Pass)

  start {
    while (true) {
      val client = listener.accept()
      start(serve(client))
    }
  }

  def listens: Int = listener.getLocalPort

  private def serve(client: Socket): Unit = {
    val server = new Socket(InetAddress.getLoopbackAddress, port)
    @volatile var lost = false
    def close(): Unit = {
      client.close()
      server.close()
    }
    start {
      // Before the body is sent there is an answer that asks for it.
      Try(copy(server.getInputStream, client.getOutputStream) { text =>
        !lost || text.startsWith("HTTP/1.1 100 ")
      })
      close()
    }
    Try(copy(client.getInputStream, server.getOutputStream) { text =>
      val fault = if (text.startsWith("PUT ")) next.getAndSet(Pass) else Pass
      fault match {
        case Pass             => true
        case LoseAnswer       => lost = true; true
        case Answer(response) =>
          client.getOutputStream.write(response.getBytes(ISO_8859_1))
          client.getOutputStream.flush()
          client.shutdownOutput()
          Thread.sleep(200)
          false
      }
    })
    close()
  }

  private def copy(in: InputStream, out: OutputStream)(passes: String => Boolean): Unit = {
    val bytes = new Array[Byte](64 * 1024)
    var count = in.read(bytes)
    while (count > 0 && passes(new String(bytes, 0, count min 16, ISO_8859_1))) {
      out.write(bytes, 0, count)
      out.flush()
      count = in.read(bytes)
    }
  }

  private def start(body: => Unit): Unit = {
    val thread = new Thread(() => { Try(body); () }, "faulty wire")
    thread.setDaemon(true)
    thread.start()
  }

  override def close(): Unit = listener.close()
}

object FaultyWire {
  sealed trait Fault
  case object Pass extends Fault

  /** The server does it, and the client does not learn of it. */
  case object LoseAnswer extends Fault

  /** The client gets this; the server does not see the request. */
  final case class Answer(response: String) extends Fault

  val Conflict: Answer = {
    val body = "<Error><Code>ConditionalRequestConflict</Code><Message>busy</Message></Error>"
    Answer(
      "HTTP/1.1 409 Conflict\r\nContent-Type: application/xml\r\nConnection: close\r\n" +
        s"Content-Length: ${body.length}\r\n\r\n$body"
    )
  }
}
