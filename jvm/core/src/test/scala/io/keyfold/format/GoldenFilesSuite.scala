package io.keyfold.format

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.collection.immutable.ListMap
import scala.collection.mutable

import io.keyfold.errors.StoreError
import io.keyfold.format.wire.Codec
import io.keyfold.map.RowCursor
import io.keyfold.model.{Family, FamilySpec, StoreLocation, VersionId}
import io.keyfold.testkit.{Bytes, Entry, FileContents, LocalBlobStore, StoreReader}
import org.scalatest.funsuite.AnyFunSuite

/** The files of `integration-tests/golden`, made by an encoder of its own from docs/FORMAT.md. */
class GoldenFilesSuite extends AnyFunSuite {
  private val folder = Path.of("integration-tests", "golden")
  private val expected = ujson.read(Files.readString(folder.resolve("expected.json")))
  private val blobs = new LocalBlobStore(folder)

  private val kinds = ListMap(
    "delta" -> FileKind.Delta,
    "snapshot" -> FileKind.Snapshot,
    "reference" -> FileKind.Reference
  )
  private val types = ListMap("PUT" -> 1, "APPEND" -> 2, "REMOVE" -> 3)
  private val codecs = ListMap("none" -> Codec.Plain, "zstd" -> Codec.Zstandard, "lz4" -> Codec.Lz4)

  for (file <- expected("valid").arr) test(s"${file("file").str} holds what expected.json says") {
    val contents = FileContents.read(blobs, file("file").str)
    assert(contents.kind == kindOf(file))
    assert(contents.footer.identity == identityOf(file("identity")))
    assert(contents.footer.lineage == file("lineage").arr.map(ancestorOf))
    assert(contents.footer.families == file("families").arr.map(familyOf))
    assert(contents.footer.dropped == file("dropped").arr.map(_.str))
    val blocks = file("blocks").arr
    assert(contents.footer.blocks.map(_.family) == blocks.map(_("family").num.toInt))
    assert(contents.footer.blocks.map(_.codec) == blocks.map(b => codecs(b("codec").str)))
    assert(contents.blocks == blocks.map(_("entries").arr.map(entryOf)))
    assert(contents.footer.groups == groupsOf(file))
    assert(contents.footer.references == referencesOf(file("references")))
    assert(contents.footer.head == headOf(file("head")))
    assert(contents.footer.continued == file("continued").num.toInt)
    assert(contents.footer.base == file("base").numOpt.map(_.toLong))
  }

  for (store <- expected("stores").arr; version = store("version").num.toLong)
    test(s"${store("folder").str} gives the rows of version $version") {
      val files = new LocalBlobStore(folder.resolve(store("folder").str))
      val found = mutable.Map.empty[String, Map[Bytes, Seq[Bytes]]]
      StoreReader.read(
        files,
        StoreLocation(0, 3, "default"),
        4,
        VersionId(version, store("id").str)
      ) { view =>
        for ((family, index) <- view.families.zipWithIndex) {
          found(family.spec.name) = rowsOf(view.scan(index))
        }
      }
      val expectedRows = store("families").obj.map { case (name, rows) =>
        name -> rows.obj.map { case (key, values) =>
          Bytes(key) -> values.arr.toSeq.map(value => Bytes(value.str))
        }.toMap
      }
      assert(found == expectedRows)
    }

  private def rowsOf(rows: RowCursor): Map[Bytes, Seq[Bytes]] = {
    val found = Map.newBuilder[Bytes, Seq[Bytes]]
    while (rows.next()) {
      val key = Bytes.of(rows.key)
      val values = Seq.newBuilder[Bytes]
      values += Bytes.of(rows.value)
      while (rows.nextValue()) values += Bytes.of(rows.value)
      found += key -> values.result()
    }
    found.result()
  }

  for (file <- expected("broken").arr) {
    val path = file("file").str
    test(s"$path is refused with ${file("condition").str}: ${file("why").str}") {
      val error = intercept[StoreError] {
        // What a reader of the footer alone must refuse is not to be opened.
        if (file("found").str == "footer") FileContents.open(blobs, path).close()
        else FileContents.read(blobs, path)
      }
      assert(error.condition == file("condition").str)
      assert(error.getMessage.contains(path))
    }
  }

  private val manifests = expected("manifests")

  for (part <- manifests("valid")("parts").arr)
    test(s"the part of a manifest at ${part("place")("offset").num.toLong} holds what it says") {
      val of = part("layer")("members").arr.toSeq.map { it =>
        val files = it("files").arr.toSeq.map(referenceOf)
        LayerPartition(it("partition").num.toInt, it("onTop").bool, files)
      }
      val read = readPart(manifests("valid")("file").str, part("place"))
      assert(read == Layer(part("layer")("partitions").num.toInt, of))
    }

  for (broken <- manifests("broken").arr) {
    val path = broken("file").str
    test(s"$path is refused with ${broken("condition").str}: ${broken("why").str}") {
      val error = intercept[StoreError](readPart(path, broken("place")))
      assert(error.condition == broken("condition").str && error.getMessage.contains(path))
    }
  }

  private def readPart(path: String, place: ujson.Value) = {
    val manifest = Manifest.open(blobs, path)
    try manifest.read(partOf(place))
    finally manifest.close()
  }

  private val plans = expected("plans")

  for (plan <- plans("valid").arr; path = plan("file").str)
    test(s"$path holds what expected.json says, and is written like this") {
      val bytes = Files.readAllBytes(folder.resolve(path))
      val found = readPlan(path)
      assert((found.name.batch, found.name.id) == ((plan("batch").num.toLong, plan("id").str)))
      assert((found.from, found.to) == ((plan("from").num.toInt, plan("to").num.toInt)))
      assert(found.isUndone == plan("undone").bool)
      val files = found.files.map(it => (it.path, textOf(it.before), textOf(it.after)))
      assert(files == plan("files").arr.map { it =>
        (it("path").str, it("before").strOpt, it("after").strOpt)
      })
      assert(found.stores == plan("stores").arr.map { it =>
        def paths(key: String) = it(key).arr.toSeq.map(_.str)
        RescaledStore(it("operator").num.toLong, it("store").str, paths("refs"), paths("folders"))
      })
      assert(Bytes.of(RescalePlan.encode(found)) == Bytes.of(bytes))
    }

  private def textOf(content: Option[Array[Byte]]) = content.map(new String(_, UTF_8))

  private def readPlan(path: String) = {
    val file = folder.resolve(path)
    val blobs = new LocalBlobStore(file.getParent.getParent)
    RescalePlan.read(blobs, PlanName.parse(file.getFileName.toString).get)
  }

  for (plan <- plans("broken").arr; path = plan("file").str)
    test(s"$path is refused with ${plan("condition").str}: ${plan("why").str}") {
      val error = intercept[StoreError](readPlan(path))
      assert(error.condition == plan("condition").str && error.getMessage.contains(".plan"))
    }

  // The writer has no need for unknown or reordered sections.
  for {
    path <- Seq(
      "valid/first-delta/1.delta",
      "valid/row-checksums/3.delta",
      "valid/delta/7.delta",
      "valid/empty-delta/8.delta",
      "valid/multi-value/5.delta",
      "valid/multi-value-checksums/5.delta",
      "valid/dropped-families/6.delta",
      "valid/ids/12_8d1f0c4e-6d0b-4c7e-9a53-0d5c1f2ab712.delta",
      "valid/after-rescale/33.delta",
      "valid/merged-delta/state/0/3/5_d.2.merged",
      "valid/merged-delta/state/0/3/6_e.delta",
      "valid/merged-delta/state/0/3/9_f.delta"
    )
  } test(s"$path is what the writer makes of expected.json, byte for byte") {
    val file = expected("valid").arr.find(_("file").str == path).get
    assert(Bytes.of(planOf(file).write()) == Bytes.of(Files.readAllBytes(folder.resolve(path))))
  }

  private def planOf(file: ujson.Value): FilePlan = {
    val entries = file("blocks").arr.flatMap(_("entries").arr.map(entryOf))
    val groups = groupsOf(file)
    val starts = groups.scanLeft(0)(_ + _.entries)
    FilePlan(
      kindOf(file),
      Codec.Plain,
      file("rowChecksums").bool,
      Layout.BlockTarget,
      identityOf(file("identity")),
      file("lineage").arr.toSeq.map(ancestorOf),
      file("families").arr.toSeq.map(familyOf),
      file("dropped").arr.toSeq.map(_.str),
      groups.zip(starts).map { case (g, start) =>
        FilePlan.Group(g.family, g.group, entries.slice(start, start + g.entries).toSeq)
      }
    )
  }

  private def versionOf(json: ujson.Value) = VersionId(json("version").num.toLong, json("id").str)

  private def kindOf(json: ujson.Value) = {
    val name = json("kind").str
    kinds.getOrElse(name, FileKind.Merged(json("base").num.toLong))
  }

  private def identityOf(json: ujson.Value) = Identity(
    versionOf(json),
    json("operator").num.toLong,
    json("partition").num.toInt,
    json("store").str,
    json("partitions").num.toInt,
    json("keyGroups").num.toInt,
    json("created").num.toLong,
    json("writer").str
  )

  private def ancestorOf(json: ujson.Value) = Ancestor(versionOf(json), kindOf(json))

  private def familyOf(json: ujson.Value) = Family(
    FamilySpec(
      json("name").str,
      json("internal").bool,
      json("multiValue").bool,
      json("ordered").bool,
      json("keyEncoding").str,
      json("rowEncoding").str,
      json("partitionKey").str,
      json("keySchemaId").num.toInt,
      json("valueSchemaId").num.toInt,
      json("strays").bool,
      json("rescaled").bool
    ),
    json("keys").num.toLong,
    json("values").num.toLong,
    json("bytes").num.toLong
  )

  private def entryOf(json: ujson.Value) = Entry(
    types(json("type").str),
    json("hash").num.toInt,
    Bytes(json("key").str),
    json("values").arr.toSeq.map(value => Bytes(value.str))
  )

  /** The groups of a file, each where the one before it ends. */
  private def groupsOf(file: ujson.Value): Seq[GroupRun] = {
    val groups = file("groups").arr.toSeq
    val blockStarts = file("blocks").arr.scanLeft(0)(_ + _("entries").arr.length)
    val starts = groups.scanLeft(0)(_ + _("entries").num.toInt)
    groups.zip(starts).map { case (group, start) =>
      val block = blockStarts.lastIndexWhere(_ <= start)
      GroupRun(
        group("family").num.toInt,
        group("group").num.toInt,
        block,
        start - blockStarts(block),
        group("entries").num.toInt,
        group("bytes").num.toLong
      )
    }
  }

  private def headOf(json: ujson.Value) = Option.unless(json.isNull) {
    Fingerprint(json("length").num.toLong, json("checksum").num.toLong.toInt)
  }

  private def referencesOf(json: ujson.Value) = Option.unless(json.isNull) {
    References(json("plan").str, json("parts").arr.toSeq.map(partOf))
  }

  private def partOf(json: ujson.Value) = ManifestPart(
    json("offset").num.toLong,
    codecs(json("codec").str),
    json("storedLength").num.toInt,
    json("rawLength").num.toInt,
    json("checksum").num.toLong.toInt
  )

  private def referenceOf(json: ujson.Value) = FileReference(
    json("path").str,
    kindOf(json),
    versionOf(json),
    json("length").num.toLong
  )
}
