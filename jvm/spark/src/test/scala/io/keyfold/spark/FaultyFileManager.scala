package io.keyfold.spark

import java.io.{FileOutputStream, OutputStream}
import java.nio.file.{Files, Path => LocalPath, Paths, StandardCopyOption}

import io.keyfold.testkit.{Failure, FileCall}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.spark.sql.keyfold.SparkShim
import org.apache.spark.sql.keyfold.TestNames.FileContextBasedCheckpointFileManager

/** Spark's own checkpoint file manager, some calls of which fail or wait, as [[FileFaults]] say.
  *
  * It asks the operating system itself where Hadoop would start a process for each file.
  */
class FaultyFileManager(root: Path, conf: Configuration)
    extends FileContextBasedCheckpointFileManager(root, conf) {
  import Failure._

  private val faults = FileFaults.of(conf)

  override def mkdirs(path: Path): Unit = asked("mkdirs", path) {
    Files.createDirectories(local(path))
    ()
  }

  override def createTempFile(path: Path): FSDataOutputStream =
    asked("create", path)(new FSDataOutputStream(new FileOutputStream(local(path).toFile), null))

  override def createAtomic(path: Path, overwrite: Boolean): SparkShim.CancellableStream =
    new FaultyStream(super.createAtomic(path, overwrite), path, faults)

  override def renameTempFile(from: Path, to: Path, overwrite: Boolean): Unit = {
    val call = faults.call("rename", to)
    faults.plan.ask(call) match {
      case Some(Taken) if Files.exists(local(to)) =>
        throw new FileAlreadyExistsException(to.toString)
      case None | Some(Taken)  => rename(from, to, overwrite)
      case Some(Within(bytes)) =>
        Files.write(local(to), Files.readAllBytes(local(from)).take(bytes))
        throw error(call)
      case Some(how) =>
        if (how == After) rename(from, to, overwrite)
        throw error(call)
    }
  }

  override def open(path: Path): FSDataInputStream =
    new FSDataInputStream(asked("open", path)(super.open(path))) {
      override def readFully(position: Long, buffer: Array[Byte]): Unit =
        asked("read", path)(super.readFully(position, buffer))
    }

  override def exists(path: Path): Boolean = asked("exists", path)(Files.exists(local(path)))

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = {
    val call = faults.call("list", path)
    faults.plan.ask(call) match {
      case None         => super.list(path, filter)
      case Some(Unseen) => Array.empty
      case Some(_)      => throw error(call)
    }
  }

  override def delete(path: Path): Unit = asked("delete", path)(super.delete(path))

  private def asked[T](what: String, path: Path)(does: => T): T = {
    val call = faults.call(what, path)
    faults.plan.ask(call).fold(does) { how =>
      if (how == After) does
      throw error(call)
    }
  }

  private def rename(from: Path, to: Path, overwrite: Boolean): Unit = {
    if (!overwrite && Files.exists(local(to))) throw new FileAlreadyExistsException(to.toString)
    Files.move(local(from), local(to), StandardCopyOption.ATOMIC_MOVE)
    ()
  }

  private def local(path: Path): LocalPath = Paths.get(path.toUri.getPath)
}

/** Closes at once, late, or not at all; or breaks off within what is written. */
private final class FaultyStream(
    inner: SparkShim.CancellableStream,
    path: Path,
    faults: FileFaults
) extends SparkShim.CancellableStream(
      new FaultyOutput(inner, faults.call("write", path), faults)
    ) {
  import Failure._

  private var isLate = false

  override def close(): Unit = {
    faults.plan.wrote(faults.call("write", path), getPos.toInt)
    val call = faults.call("close", path)
    faults.plan.ask(call) match {
      case None      => inner.close()
      case Some(how) =>
        if (how == After) inner.close()
        if (how == Late) {
          isLate = true
          faults.putOff(inner)
        }
        throw error(call)
    }
  }

  override def cancel(): Unit = if (!isLate) inner.cancel()
}

private final class FaultyOutput(out: OutputStream, call: FileCall, faults: FileFaults)
    extends OutputStream {
  private lazy val how = faults.plan.ask(call)
  private var written = 0

  override def write(b: Int): Unit = write(Array(b.toByte), 0, 1)

  override def write(b: Array[Byte], from: Int, count: Int): Unit = {
    val taken = how match {
      case Some(Failure.Within(bytes)) => math.min(count, bytes - written)
      case _                           => count
    }
    out.write(b, from, taken)
    written += taken
    if (taken < count) throw Failure.error(call)
  }

  override def flush(): Unit = out.flush()
}
