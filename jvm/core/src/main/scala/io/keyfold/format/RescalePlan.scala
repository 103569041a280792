package io.keyfold.format

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import scala.annotation.tailrec
import scala.util.Try

import io.keyfold.errors.CorruptFile
import io.keyfold.format.wire.Checksum
import io.keyfold.io.BlobStore
import io.keyfold.model.{Names, VersionId}

/** The plan of a rescale, planned or done: docs/FORMAT.md, section 10. The file exists from before
  * the first reference is written until no file of the old layout is left. Or that of the
  * redistribution of an operator's subtasks, as long as the batch before it is retained.
  *
  * @param from
  *   number of partitions before
  * @param files
  *   of Spark's own that it changes, in this order; none if it has a batch of its own
  * @param isUndone
  *   whether these files are to have their old content again
  */
final case class RescalePlan(
    name: PlanName,
    from: Int,
    to: Int,
    stores: Seq[RescaledStore],
    files: Seq[RewrittenFile] = Nil,
    isUndone: Boolean = false
) {

  /** Whether it is of an operator's subtasks: a rescale has other partitions after it. */
  def isRedistribution: Boolean = from == to
}

/** @param references
  *   paths of the references that it writes
  * @param frozen
  *   folders with files that other partitions may need once the rescale is committed
  */
final case class RescaledStore(
    operator: Long,
    store: String,
    references: Seq[String],
    frozen: Seq[String]
)

object RescalePlan {
  private val MaxBytes = 1L << 28
  private val Absent = "-"
  private val FirstLine = "keyfold-rescale 1"
  private val Checksummed = """(?s)(.*\n)crc32c ([0-9a-f]{8})\n""".r

  /** Version of a reference, from its path in a plan. */
  def versionOf(reference: String): VersionId =
    FileKind.parse(nameIn(reference)).get._1

  private def nameIn(path: String) = path.drop(path.lastIndexOf('/') + 1)

  def write(blobs: BlobStore, plan: RescalePlan): Unit = {
    val bytes = encode(plan)
    blobs.write(plan.name.path)(_.write(bytes))
    ()
  }

  /** Reads a plan.
    *
    * @throws io.keyfold.errors.CorruptFile
    *   if it is damaged
    * @throws java.io.FileNotFoundException
    *   if it does not exist
    */
  def read(blobs: BlobStore, name: PlanName): RescalePlan = {
    val path = name.path
    val file = blobs.open(path)
    val bytes =
      try {
        if (file.length > MaxBytes) {
          throw new CorruptFile(
            blobs.describe(path),
            s"it has ${file.length} bytes, too many for a plan"
          )
        }
        file.read(0, file.length.toInt)
      } finally file.close()
    val plan = decode(bytes, blobs.describe(path))
    if (plan.name != name)
      throw new CorruptFile(blobs.describe(path), s"it contains the plan ${plan.name}")
    plan
  }

  def encode(plan: RescalePlan): Array[Byte] = {
    val lines = Seq(
      FirstLine,
      s"batch ${plan.name.batch}",
      s"id ${plan.name.id}",
      s"from ${plan.from}",
      s"to ${plan.to}",
      s"undone ${plan.isUndone}"
    ) ++ plan.files.map { file =>
      s"file ${file.path} ${encoded(file.before)} ${encoded(file.after)}"
    } ++ plan.stores.flatMap { store =>
      s"store ${store.operator} ${store.store}" +:
        (store.references.map(path => s"ref $path") ++ store.frozen.map(path => s"folder $path"))
    }
    val text = lines.mkString("", "\n", "\n")
    val checksum = Checksum.of(text.getBytes(UTF_8))
    (text + f"crc32c $checksum%08x\n").getBytes(UTF_8)
  }

  private def encoded(content: Option[Array[Byte]]) =
    content.fold(Absent)(Base64.getEncoder.encodeToString)

  private def decoded(text: String) =
    Option.when(text != Absent)(Base64.getDecoder.decode(text))

  /** @param path
    *   for messages
    * @throws io.keyfold.errors.CorruptFile
    *   if it is damaged
    */
  def decode(bytes: Array[Byte], path: String): RescalePlan =
    new String(bytes, UTF_8) match {
      case Checksummed(text, checksum) if f"${Checksum.of(text.getBytes(UTF_8))}%08x" == checksum =>
        Try(parse(text.split('\n').toList)).getOrElse {
          throw new CorruptFile(
            path,
            "it is not the plan of a rescale, or a newer release wrote it"
          )
        }
      case _ => throw new CorruptFile(path, "its checksum is wrong")
    }

  private def parse(lines: List[String]): RescalePlan = lines match {
    case FirstLine :: batch :: id :: from :: to :: undone :: rest =>
      val (files, stores) = rest.span(_.startsWith("file "))
      val name = PlanName(valueOf(batch, "batch").toLong, valueOf(id, "id"))
      val plan = RescalePlan(
        name,
        valueOf(from, "from").toInt,
        valueOf(to, "to").toInt,
        storesOf(stores, name.version),
        files.map(fileOf),
        valueOf(undone, "undone").toBoolean
      )
      require(name.isOpen || plan.files.isEmpty && !plan.isUndone)
      plan
    case _ => throw new IllegalArgumentException
  }

  private def fileOf(line: String) = valueOf(line, "file").split(' ') match {
    case Array(path, before, after) =>
      require(RewrittenFile.mayBe(path))
      RewrittenFile(path, decoded(before), decoded(after))
    case _ => throw new IllegalArgumentException
  }

  @tailrec
  private def storesOf(
      lines: List[String],
      version: Long,
      before: List[RescaledStore] = Nil
  ): List[RescaledStore] = lines match {
    case first :: rest =>
      val (own, others) = rest.span(!_.startsWith("store "))
      val (operator, store) = valueOf(first, "store").span(_ != ' ')
      val (references, frozen) = own.partition(_.startsWith("ref "))
      val found = RescaledStore(
        operator.toLong,
        store.drop(1),
        references.map(valueOf(_, "ref")),
        frozen.map(valueOf(_, "folder"))
      )
      check(found, version)
      storesOf(others, version, found :: before)
    case Nil => before.reverse
  }

  /** Files are deleted on the word of a plan, so its paths must not leave the checkpoint. */
  private def check(store: RescaledStore, version: Long): Unit = {
    require(Names.isStore(store.store))
    store.frozen.foreach(path => require(Names.isFolder(path)))
    store.references.foreach { path =>
      val name = nameIn(path)
      require(Names.isFile(path, name))
      require(FileKind.parse(name).exists { case (of, kind) =>
        kind == FileKind.Reference && of.version == version && Names.isId(of.id)
      })
    }
  }

  private def valueOf(line: String, key: String) = {
    require(line.startsWith(s"$key "))
    line.drop(key.length + 1)
  }
}
