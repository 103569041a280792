package io.keyfold.conformance

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.net.JarURLConnection
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

/** Test classes of Spark that name its RocksDB provider, with another class in its place. Only
  * names in their constant pools are changed, and none of a class that Spark ships.
  */
object PointedClasses {
  private val Sql = "org/apache/spark/sql"
  private val RocksDb = internalName(Provider.RocksDb)

  /** In the same jar, on every line. */
  private val Landmark = s"$Sql/streaming/StreamTest.class"

  /** Beginnings of the names of the classes that may be changed. */
  private val Pointed = Seq(
    s"$Sql/connector/ChangelogEndToEndSuite",
    s"$Sql/execution/datasources/v2/state/",
    s"$Sql/execution/streaming/",
    s"$Sql/streaming/"
  )

  /** Writes them to a folder, to stand ahead of Spark's test jars; none for a provider that cannot
    * do what the tests ask of RocksDB.
    */
  def write(folder: Path, provider: Provider): Unit = {
    val resource = getClass.getClassLoader.getResource(Landmark)
    val jar = resource.openConnection().asInstanceOf[JarURLConnection]
    jar.setUseCaches(false)
    if (provider.hasFamilies && provider != Provider.RocksDb)
      Using.resource(jar.getJarFile) { file =>
        for (
          entry <- file.entries.asScala
          if entry.getName.endsWith(".class") && Pointed.exists(entry.getName.startsWith)
        ) {
          val bytes = Using.resource(file.getInputStream(entry))(_.readAllBytes())
          if (namesRocksDb(bytes)) {
            val to = folder.resolve(entry.getName)
            Files.createDirectories(to.getParent)
            Files.write(to, renamed(bytes, provider))
          }
        }
      }
  }

  private def namesRocksDb(classFile: Array[Byte]) = {
    val text = new String(classFile, ISO_8859_1)
    text.contains(RocksDb) || text.contains(Provider.RocksDb.className)
  }

  /** A class file (JVM specification, section 4.4) whose constants name another class. */
  private def renamed(classFile: Array[Byte], provider: Provider): Array[Byte] = {
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
          out.writeUTF(in.readUTF() match {
            case RocksDb                    => internalName(provider)
            case Provider.RocksDb.className => provider.className
            case other => other.replace(s"L$RocksDb;", s"L${internalName(provider)};")
          })
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

  private def internalName(provider: Provider) = provider.className.replace('.', '/')
}
