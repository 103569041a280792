package io.keyfold.io

import java.io.{
  EOFException,
  FileNotFoundException,
  IOException,
  InterruptedIOException,
  OutputStream
}
import java.net.SocketTimeoutException
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import io.keyfold.testkit.{ForwardingBlobReader, ForwardingBlobStore, MemoryBlobStore}
import org.scalatest.funsuite.AnyFunSuite

class RetryingBlobStoreSuite extends AnyFunSuite {

  /** A store over memory whose next operations throw what is queued; pauses are recorded only. */
  private class Fixture {
    val memory = new MemoryBlobStore
    val failures: mutable.Queue[IOException] = mutable.Queue.empty
    val pauses: mutable.Buffer[Long] = mutable.Buffer.empty
    var retries = 0

    private def failing[T](operation: => T): T =
      if (failures.nonEmpty) throw failures.dequeue() else operation

    private val flaky = new ForwardingBlobStore(memory) {
      override def write(path: String)(body: OutputStream => Unit): Long = {
        val length = memory.write(path)(body)
        failing(length)
      }
      override def open(path: String): BlobReader = failing {
        val inner = memory.open(path)
        new ForwardingBlobReader(inner) {
          override def read(position: Long, count: Int): Array[Byte] =
            failing(super.read(position, count))
        }
      }
      override def exists(path: String): Boolean = failing(memory.exists(path))
      override def files(folder: String): Map[String, ListedFile] = failing(memory.files(folder))
      override def delete(path: String): Unit = failing(memory.delete(path))
    }
    val store = new RetryingBlobStore(flaky, number => retries += number.min(2) - 1, pauses += _)
  }

  private val hello = "hello".getBytes(UTF_8)

  private val operations = Seq[(String, RetryingBlobStore => Any)](
    "write" -> (_.write("d/new")(_.write(hello))),
    "open" -> (_.open("d/f").close()),
    "exists" -> (_.exists("d/f")),
    "list" -> (_.list("d")),
    "delete" -> (_.delete("d/f"))
  )

  for ((name, operation) <- operations) {
    test(s"$name is tried again after a fault that passes, and counted") {
      val fixture = new Fixture
      fixture.memory.put("d/f", hello)
      fixture.failures ++= Seq(new IOException("503"), new SocketTimeoutException("slow"))
      operation(fixture.store)
      assert(fixture.retries == 2)
      assert(fixture.pauses == Seq(100L, 400L))
    }

    test(s"$name gives up after three tries, with the last fault") {
      val fixture = new Fixture
      fixture.memory.put("d/f", hello)
      fixture.failures ++= (1 to 4).map(n => new IOException(s"fault $n"))
      assert(intercept[IOException](operation(fixture.store)).getMessage == "fault 3")
      assert(fixture.retries == 2)
      assert(fixture.failures.size == 1)
    }

    for (
      fault <- Seq(
        new FileNotFoundException("x"),
        new EOFException("x"),
        new InterruptedIOException("x")
      )
    )
      test(s"$name is not tried again after ${fault.getClass.getSimpleName}") {
        val fixture = new Fixture
        fixture.memory.put("d/f", hello)
        fixture.failures += fault
        assert(intercept[IOException](operation(fixture.store)) eq fault)
        assert(fixture.retries == 0)
      }
  }

  test("a write that is tried again leaves the whole file") {
    val fixture = new Fixture
    fixture.failures += new IOException("after the file was there")
    assert(fixture.store.write("d/new")(_.write(hello)) == hello.length)
    assert(fixture.memory.bytes("d/new").sameElements(hello))
  }

  test("a read that fails opens the file anew") {
    val fixture = new Fixture
    fixture.memory.put("d/f", hello)
    val reader = fixture.store.open("d/f")
    fixture.failures += new IOException("connection reset")
    assert(reader.read(1, 3).sameElements("ell".getBytes(UTF_8)))
    assert(fixture.retries == 1)
    assert(fixture.memory.counts.opens == 2)
    assert(reader.read(0, 1).sameElements("h".getBytes(UTF_8)))
    assert(fixture.memory.counts.opens == 2)
  }

  test("an interrupted task does not wait for another try") {
    val fixture = new Fixture
    fixture.failures += new IOException("503")
    Thread.currentThread.interrupt()
    intercept[IOException](fixture.store.exists("d/f"))
    assert(Thread.interrupted())
    assert(fixture.pauses.isEmpty)
  }
}
