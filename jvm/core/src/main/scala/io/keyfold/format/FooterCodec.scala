package io.keyfold.format

import io.keyfold.errors.UnknownFormat
import io.keyfold.format.Layout.{BlockHeadBytes, EntryBytes, FamilyFlag, MaxAmount, Section}
import io.keyfold.format.wire.{ByteSink, ByteSource, Codec}
import io.keyfold.group.KeyGroups
import io.keyfold.model.{Family, FamilySpec, Names, VersionId}

/** Encodes and decodes footers: docs/FORMAT.md, section 4. */
object FooterCodec {

  def encode(footer: Footer): ByteSink = {
    val out = new ByteSink(1024)
    section(out, Section.Identity)(identity(_, footer.identity))
    section(out, Section.Lineage)(lineage(_, footer.lineage))
    section(out, Section.Families)(families(_, footer.families))
    section(out, Section.Dropped) { s =>
      s.u16(footer.dropped.length)
      footer.dropped.foreach(s.str)
    }
    section(out, Section.Blocks)(blocks(_, footer.blocks))
    section(out, Section.Groups)(groups(_, footer.groups))
    footer.references.foreach(r => section(out, Section.Parts)(parts(_, r)))
    footer.head.foreach(h => section(out, Section.Head, flags = 0)(head(_, h)))
    if (footer.continued > 0) section(out, Section.Continued)(_.i32(footer.continued))
    footer.base.foreach(b => section(out, Section.Base)(_.i64(b)))
    out
  }

  /** @throws io.keyfold.errors.CorruptFile
    *   if a field is out of range, or fields contradict each other
    * @throws io.keyfold.errors.UnknownFormat
    *   if it has an unknown required section
    */
  def decode(bytes: Array[Byte], path: String, kind: FileKind): Footer = {
    val in = new ByteSource(bytes, 0, bytes.length, path, "footer")
    var sections = Map.empty[Int, ByteSource]
    while (in.remaining > 0) {
      val code = in.u16()
      val flags = in.u16()
      val payload = in.part(in.length(), s"footer section $code")
      val known = code >= Section.Identity && code <= Section.Base
      if (!known && (flags & Section.Required) != 0) {
        throw new UnknownFormat(path, s"this release does not know its section $code")
      }
      if ((flags & ~Section.Required) != 0) in.fail(s"section $code has reserved flags $flags")
      if (sections.contains(code)) in.fail(s"section $code is there twice")
      if (known) sections += code -> payload
    }

    def required[T](code: Int)(body: ByteSource => T): T = {
      val payload = sections.getOrElse(code, in.fail(s"section $code is missing"))
      val value = body(payload)
      payload.end()
      value
    }
    def optional[T](code: Int)(body: ByteSource => T): Option[T] =
      if (sections.contains(code)) Some(required(code)(body)) else None

    if (kind.isChange && !sections.contains(Section.Dropped)) {
      in.fail(s"section ${Section.Dropped} is missing")
    }
    val id = required(Section.Identity)(identity)
    check(id, in)
    val families = required(Section.Families)(this.families)
    val blocks = required(Section.Blocks)(this.blocks(_, families.length))
    Footer(
      id,
      required(Section.Lineage)(lineage),
      families,
      optional(Section.Dropped)(s => Seq.fill(s.u16())(s.str())).getOrElse(Nil),
      blocks,
      required(Section.Groups)(groups(_, blocks, id.keyGroups)),
      optional(Section.Parts)(parts),
      optional(Section.Head)(head),
      optional(Section.Continued)(continued(_, blocks)).getOrElse(0),
      optional(Section.Base)(_.i64())
    )
  }

  private def check(id: Identity, in: ByteSource): Unit = {
    if (!Names.isStore(id.store)) in.fail(s"invalid name of a store: '${id.store}'")
    if (id.keyGroups < 1 || id.keyGroups > KeyGroups.Most)
      in.fail(s"invalid number of key groups: ${id.keyGroups}")
    if (id.partitions < 0) in.fail(s"invalid number of partitions: ${id.partitions}")
    if (id.partition < 0 || (id.partitions > 0 && id.partition >= id.partitions)) {
      in.fail(s"invalid partition ${id.partition} of ${id.partitions}")
    }
  }

  private def section(out: ByteSink, code: Int, flags: Int = Section.Required)(
      body: ByteSink => Unit
  ): Unit = {
    val payload = new ByteSink
    body(payload)
    out.u16(code)
    out.u16(flags)
    out.i32(payload.length)
    out.append(payload)
  }

  private def identity(out: ByteSink, i: Identity): Unit = {
    out.i64(i.version.version)
    out.str(i.version.id)
    out.i64(i.operator)
    out.i32(i.partition)
    out.str(i.store)
    out.i32(i.partitions)
    out.i32(i.keyGroups)
    out.i64(i.createdMs)
    out.str(i.writer)
  }

  private def identity(in: ByteSource): Identity =
    Identity(
      version = version(in),
      operator = in.i64(),
      partition = in.i32(),
      store = in.str(),
      partitions = in.i32(),
      keyGroups = in.i32(),
      createdMs = in.i64(),
      writer = in.str()
    )

  private def lineage(out: ByteSink, lineage: Seq[Ancestor]): Unit = {
    out.i32(lineage.length)
    lineage.foreach { a =>
      out.i64(a.version.version)
      out.u8(a.kind.code)
      out.str(a.version.id)
      a.kind.base.foreach(out.i64)
    }
  }

  private def lineage(in: ByteSource): Seq[Ancestor] =
    Vector.fill(in.count(11)) {
      val number = in.i64()
      val code = in.u8()
      val of = version(in, number)
      Ancestor(of, fileKind(in, code, of))
    }

  private def families(out: ByteSink, families: Seq[Family]): Unit = {
    out.u16(families.length)
    families.zipWithIndex.foreach { case (f, id) =>
      out.u16(id)
      out.str(f.spec.name)
      out.u8(
        (if (f.spec.internal) FamilyFlag.Internal else 0) |
          (if (f.spec.multiValue) FamilyFlag.MultiValue else 0) |
          (if (f.spec.ordered) FamilyFlag.Ordered else 0) |
          (if (f.spec.strays) FamilyFlag.Strays else 0) |
          (if (f.spec.rescaled) FamilyFlag.Rescaled else 0)
      )
      out.str(f.spec.keyEncoding)
      out.str(f.spec.rowEncoding)
      out.str(f.spec.partitionKey)
      out.i32(f.spec.keySchemaId)
      out.i32(f.spec.valueSchemaId)
      out.i64(f.keys)
      out.i64(f.values)
      out.i64(f.bytes)
    }
  }

  private def families(in: ByteSource): Seq[Family] = {
    val families = Vector.tabulate(in.u16())(family(in, _))
    if (families.map(_.spec.name).distinct.length < families.length) {
      in.fail("two families have one name")
    }
    families
  }

  private def family(in: ByteSource, expected: Int): Family = {
    val id = in.u16()
    if (id != expected) in.fail(s"a family has id $id instead of $expected")
    val name = in.str()
    val flags = in.u8()
    if ((flags & ~FamilyFlag.All) != 0) in.fail(s"family $name has reserved flags $flags")
    val spec = FamilySpec(
      name,
      internal = (flags & FamilyFlag.Internal) != 0,
      multiValue = (flags & FamilyFlag.MultiValue) != 0,
      ordered = (flags & FamilyFlag.Ordered) != 0,
      keyEncoding = in.str(),
      rowEncoding = in.str(),
      partitionKey = in.str(),
      keySchemaId = in.i32(),
      valueSchemaId = in.i32(),
      strays = (flags & FamilyFlag.Strays) != 0,
      rescaled = (flags & FamilyFlag.Rescaled) != 0
    )
    Family(spec, keys = amount(in), values = amount(in), bytes = amount(in))
  }

  /** Rows or bytes of a family; -1 if not known. */
  private def amount(in: ByteSource): Long = {
    val n = in.i64()
    if (n < -1 || n > MaxAmount) in.fail(s"a family has $n rows, values or bytes")
    n
  }

  private def blocks(out: ByteSink, blocks: IndexedSeq[Block]): Unit = {
    out.i32(blocks.length)
    blocks.foreach(b => out.u16(b.family))
    blocks.foreach(b => out.u8(b.codec.code))
    blocks.foreach(b => out.i64(b.offset))
    blocks.foreach(b => out.i32(b.storedLength))
    blocks.foreach(b => out.i32(b.rawLength))
    blocks.foreach(b => out.i32(b.entries))
    blocks.foreach(b => out.i32(b.checksum))
  }

  private def blocks(in: ByteSource, families: Int): IndexedSeq[Block] = {
    val n = in.count(27)
    val family = Array.fill(n)(in.u16())
    family.find(_ >= families).foreach(f => in.fail(s"a block belongs to the unknown family $f"))
    val codec = Array.fill(n)(this.codec(in))
    val offset = Array.fill(n)(in.i64())
    val stored = Array.fill(n)(in.length())
    val raw = Array.fill(n)(in.length())
    val entries = Array.fill(n)(in.length())
    for (i <- 0 until n) {
      if (entries(i) == 0) in.fail("a block has no entries")
      if (entries(i) > (raw(i) - BlockHeadBytes) / EntryBytes) {
        in.fail(s"a block of ${raw(i)} bytes cannot have ${entries(i)} entries")
      }
    }
    val checksum = in.ints(n)
    Vector.tabulate(n)(i =>
      Block(family(i), codec(i), offset(i), stored(i), raw(i), entries(i), checksum(i))
    )
  }

  private def groups(out: ByteSink, groups: IndexedSeq[GroupRun]): Unit = {
    val n = groups.length
    out.i32(n)
    for (i <- 0 until n) out.u16(groups(i).family)
    for (i <- 0 until n) out.i32(groups(i).group)
    for (i <- 0 until n) out.i32(groups(i).entries)
    for (i <- 0 until n) out.i64(groups(i).bytes)
  }

  /** The start of a group follows from the number of entries before it. */
  private def groups(in: ByteSource, blocks: IndexedSeq[Block], keyGroups: Int) = {
    val n = in.count(18)
    val family = Array.fill(n)(in.u16())
    val group = in.ints(n)
    val entries = in.ints(n)
    val bytes = Array.fill(n)(in.i64())
    var left = blocks.map(_.entries.toLong).sum
    if (left > Int.MaxValue) in.fail(s"blocks have $left entries, too many for a file")
    var block = 0
    var entry = 0
    val runs = new GroupRuns.Builder(n)
    for (i <- 0 until n) {
      if (bytes(i) < 0 || bytes(i) > MaxAmount) {
        in.fail(s"key group ${group(i)} has ${bytes(i)} bytes")
      }
      if (group(i) < 0 || group(i) >= keyGroups)
        in.fail(s"invalid key group ${group(i)} of $keyGroups")
      if (entries(i) < 1) in.fail(s"key group ${group(i)} has ${entries(i)} entries")
      left -= entries(i)
      if (left < 0) in.fail(s"key group ${group(i)} has more entries than its blocks")
      if (block < blocks.length && entry == blocks(block).entries) {
        block += 1
        entry = 0
      }
      runs.add(family(i), group(i), block, entry, entries(i), bytes(i))
      entry += entries(i)
      while (block < blocks.length && entry > blocks(block).entries) {
        if (blocks(block).family != family(i))
          in.fail(s"key group ${group(i)} has blocks of several families")
        entry -= blocks(block).entries
        block += 1
      }
      if (blocks(block).family != family(i)) {
        in.fail(s"key group ${group(i)} has more entries than the blocks of its family")
      }
    }
    if (left > 0) in.fail("blocks have entries that are in no key group")
    runs.result()
  }

  private def parts(out: ByteSink, references: References): Unit = {
    out.str(references.planId)
    out.i32(references.parts.length)
    references.parts.foreach { part =>
      out.i64(part.offset)
      out.u8(part.codec.code)
      out.i32(part.storedLength)
      out.i32(part.rawLength)
      out.i32(part.checksum)
    }
  }

  private def parts(in: ByteSource): References = {
    val planId = in.str()
    val parts = Vector.fill(in.count(21)) {
      ManifestPart(in.i64(), codec(in), in.length(), in.length(), in.i32())
    }
    if (parts.isEmpty) in.fail("it has no part of a manifest")
    References(planId, parts)
  }

  private[format] def codec(in: ByteSource): Codec = {
    val code = in.u8()
    Codec.ofCode(code).getOrElse(in.fail(s"unknown codec $code"))
  }

  /** Minimum length of an encoded file reference. */
  private[format] val MinReference = 21

  private[format] def reference(out: ByteSink, f: FileReference): Unit = {
    out.str(f.path)
    out.u8(f.kind.code)
    out.i64(f.version.version)
    out.str(f.version.id)
    f.kind.base.foreach(out.i64)
    out.i64(f.length)
  }

  private[format] def reference(in: ByteSource): FileReference = {
    val path = in.str()
    val code = in.u8()
    val of = version(in)
    val kind = fileKind(in, code, of)
    if (kind == FileKind.Reference) in.fail("a manifest names a reference")
    if (!Names.isFile(path, kind.nameOf(of))) in.fail(s"'$path' is no path of ${kind.nameOf(of)}")
    FileReference(path, kind, of, length = in.i64())
  }

  private def head(out: ByteSink, head: Fingerprint): Unit = {
    out.i64(head.length)
    out.i32(head.checksum)
  }

  private def head(in: ByteSource): Fingerprint = Fingerprint(in.i64(), in.i32())

  /** The first entry of a file continues nothing. */
  private def continued(in: ByteSource, blocks: IndexedSeq[Block]): Int = {
    val count = in.i32()
    if (count < 1 || count >= blocks.map(_.entries.toLong).sum)
      in.fail(s"invalid number of continued entries: $count")
    count
  }

  private def version(in: ByteSource): VersionId = version(in, in.i64())

  /** A version whose number was already read. */
  private def version(in: ByteSource, number: Long): VersionId = {
    val id = in.str()
    if (number < 1 || !Names.isId(id)) in.fail(s"invalid version $number with id '$id'")
    VersionId(number, id)
  }

  private def fileKind(in: ByteSource, code: Int, of: VersionId): FileKind = {
    val kind = FileKind.ofCode(code, in.i64()).getOrElse(in.fail(s"unknown file kind $code"))
    if (!FileKind.isOfVersion(kind, of.version, of.id)) in.fail(s"version $of cannot have a $kind")
    kind
  }
}
