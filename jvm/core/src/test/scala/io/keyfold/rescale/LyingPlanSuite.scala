package io.keyfold.rescale

import java.nio.charset.StandardCharsets.UTF_8

import io.keyfold.errors.{CorruptFile, Invalid}
import io.keyfold.format.{FileKind, PlanName, RescalePlan, RescaledStore, RewrittenFile}
import io.keyfold.format.wire.Checksum
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.testkit.{ForwardingBlobStore, MemoryBlobStore}
import org.scalatest.funsuite.AnyFunSuite

/** Plans of rescales, ids of the commit log and names of stores that lead to other folders: nothing
  * there is read, written or deleted.
  */
class LyingPlanSuite extends AnyFunSuite {
  import RescaledOperator._

  private val right = RescalePlan(
    PlanName(3, "p"),
    2,
    3,
    Seq(
      RescaledStore(0, "default", Seq("state/0/0/4_a.ref"), Seq("state/0/0", "state/0/1/left"))
    )
  )

  private def decoded(plan: RescalePlan) =
    RescalePlan.decode(RescalePlan.encode(plan), "rescale-3-p.plan")

  private def refused(change: RescaledStore => RescaledStore) = {
    val plan = right.copy(stores = right.stores.map(change))
    intercept[CorruptFile](decoded(plan)).getMessage.contains("rescale-3-p.plan")
  }

  test("a plan whose paths lead anywhere but to stores' folders is refused") {
    assert(decoded(right) == right)
    val folders = Seq(
      "..",
      "../..",
      "",
      "0/0",
      "state",
      "state/0",
      "/state/0/0",
      "state/0/..",
      "state/0/0/..",
      "state/0/0/../..",
      "state/../keyfold",
      "state/0/0/a/b",
      "state/x/0"
    )
    for (folder <- folders) assert(refused(_.copy(frozen = Seq("state/0/0", folder))), folder)
    val references = Seq(
      "0/0/4_a.ref",
      "state/../0/4_a.ref",
      "state/0/0/../4_a.ref",
      "/state/0/0/4_a.ref",
      "state/0/0/5_a.ref",
      "state/0/0/4_a.delta",
      "state/0/0/4_a",
      "4_a.ref"
    )
    for (path <- references) assert(refused(_.copy(references = Seq(path))), path)
    for (store <- Seq("..", ".", "a/b", "")) assert(refused(_.copy(store = store)), store)
  }

  private def open(path: String, number: Long = 4) = right.copy(
    name = PlanName.open(number, 1),
    files = Seq(RewrittenFile(path, None, Some(Array[Byte](-1, 0, 10, 32)))),
    isUndone = true
  )

  test("a plan before an open batch is of the version before it, and is read as it was written") {
    val plan = open("state/0/_metadata/v2/3")
    assert((plan.name.version, plan.name.stateBatch, plan.name.floor) == ((4, 3, 5)))
    val found = decoded(plan)
    assert(RescalePlan.encode(found).toSeq == RescalePlan.encode(plan).toSeq)
    val file = found.files.head
    assert(found.isUndone && found.stores == plan.stores)
    assert(file.before.isEmpty && file.after.get.toSeq == Seq[Byte](-1, 0, 10, 32))
  }

  test("a plan before an open batch changes no files but Spark's logs and metadata") {
    for (path <- Seq("offsets/3", "commits/3", "state/12/_metadata/v2/0")) decoded(open(path))
    for (
      path <- Seq(
        "metadata",
        "offsets/../x",
        "../offsets/3",
        "/offsets/3",
        "offsets/x",
        "state/0/0/3.delta"
      )
    ) intercept[CorruptFile](decoded(open(path)))
    intercept[CorruptFile](decoded(open("offsets/3", number = 3).copy(name = right.name)))
    intercept[CorruptFile](decoded(right.copy(isUndone = true)))
    intercept[CorruptFile](decoded(right.copy(name = PlanName.open(3, 1))))
    // Its references would be of another version.
    intercept[CorruptFile](decoded(open("offsets/3", number = 3)))
  }

  test("a plan of very many stores is read: its length is no depth") {
    val many = right.copy(stores = Seq.fill(50000)(right.stores.head))
    assert(decoded(many) == many)
  }

  test("a plan that is larger than any is refused before it is read") {
    val blobs = new ForwardingBlobStore(new MemoryBlobStore) {
      override def open(path: String) = new io.keyfold.io.BlobReader {
        override def length: Long = 1L << 40
        override def read(position: Long, count: Int) = fail("it was read")
        override def close(): Unit = ()
      }
    }
    intercept[CorruptFile](RescalePlan.read(blobs, right.name))
  }

  test("what a plan says is frozen is not deleted elsewhere") {
    val operator = new RescaledOperator(2, 12, ids = true)
    operator.batch(Seq(Put("default", "a", "1")))
    operator.rescale(3)
    val plan = operator.blobs.paths.find(_.endsWith(".plan")).get
    val text = new String(operator.blobs.bytes(plan), UTF_8).linesIterator.toSeq.dropRight(1)
    val lying = (text :+ "folder ../another/state/0/0").mkString("", "\n", "\n")
    val sum = f"crc32c ${Checksum.of(lying.getBytes(UTF_8))}%08x\n"
    operator.blobs.put(plan, (lying + sum).getBytes(UTF_8))
    val elsewhere = "../another/state/0/0/1.delta"
    operator.blobs.put(elsewhere, Array[Byte](1))
    for (_ <- 1 to 12) {
      operator.batch(Seq(Put("default", "last", "value")))
      operator.maintain()
    }
    assert(operator.blobs.exists(elsewhere))
    operator.check()
    operator.close()
  }

  test("an id that would lead to another folder makes no file name") {
    for (id <- Seq("../../x", "a/b", "a.b", "a\u0000b")) {
      val error = intercept[Invalid](FileKind.Delta.nameOf(VersionId(5, id)))
      assert(error.condition == "KEYFOLD_CHECKPOINT_DAMAGED")
    }
    assert(FileKind.Delta.nameOf(VersionId(5, "a-1")) == "5_a-1.delta")
  }

  test("a name that would lead to another folder is no store's") {
    for (store <- Seq("", ".", "..", "../../x", "a/b", "a\u0000b")) {
      val error = intercept[Invalid](StoreLocation(0, 0, store))
      assert(error.condition == "KEYFOLD_CHECKPOINT_DAMAGED")
    }
    assert(StoreLocation(0, 1, "left").folder == "state/0/1/left")
  }

  test("names in an error's message do not control a terminal") {
    val error = new CorruptFile("a\u001b[2J\u202eb", "c\u0000\rd")
    assert(error.getMessage.contains("a\\u001b[2J\\u202eb"))
    assert(error.getMessage.contains("c\\u0000\\u000dd"))
  }
}
