package io.keyfold.conformance

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.net.JarURLConnection
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

/** Test classes of Spark that make a RocksDB provider by `new`, with another class in its place.
  * Only names in their constant pools are changed, and none of a class that Spark ships.
  */
object PointedClasses {
  private val RocksDb = "org/apache/spark/sql/execution/streaming/state/RocksDBStateStoreProvider"

  /** Beginnings of their names. */
  private val Pointed = Seq(
    "ListStateSuite",
    "MapStateSuite",
    "StateVariableSuiteBase",
    "StatefulProcessorHandleSuite",
    "TimerSuite",
    "ValueStateSuite"
  ).map("org/apache/spark/sql/execution/streaming/state/" + _)

  /** Writes them to a folder, to stand ahead of Spark's test jars.
    *
    * @param provider
    *   class name
    */
  def write(folder: Path, provider: String): Unit = {
    val resource = getClass.getClassLoader.getResource(Pointed.last + ".class")
    val jar = resource.openConnection().asInstanceOf[JarURLConnection]
    jar.setUseCaches(false)
    Using.resource(jar.getJarFile) { file =>
      for (
        entry <- file.entries.asScala
        if entry.getName.endsWith(".class") && Pointed.exists(entry.getName.startsWith)
      ) {
        val bytes = Using.resource(file.getInputStream(entry))(_.readAllBytes())
        val to = folder.resolve(entry.getName)
        Files.createDirectories(to.getParent)
        Files.write(to, renamed(bytes, provider.replace('.', '/')))
      }
    }
  }

  /** A class file (JVM specification, section 4.4) whose constants name another class. */
  private def renamed(classFile: Array[Byte], to: String): Array[Byte] = {
    val in = new DataInputStream(new ByteArrayInputStream(classFile))
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.write(in.readNBytes(8))
    val count = in.readUnsignedShort()
    out.writeShort(count)
    var i = 1
    while (i < count) {
      val tag = in.readUnsignedByte()
      out.writeByte(tag)
      tag match {
        case 1 =>
          val text = in.readUTF()
          out.writeUTF(if (text == RocksDb) to else text.replace(s"L$RocksDb;", s"L$to;"))
        case 5 | 6 =>
          out.write(in.readNBytes(8))
          i += 1
        case 7 | 8 | 16 | 19 | 20 => out.write(in.readNBytes(2))
        case 15                   => out.write(in.readNBytes(3))
        case _                    => out.write(in.readNBytes(4))
      }
      i += 1
    }
    in.transferTo(out)
    bytes.toByteArray
  }
}
