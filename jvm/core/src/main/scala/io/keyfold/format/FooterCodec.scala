package io.keyfold.format

import io.keyfold.format.Layout.{FamilyFlag, Section}

/** A footer to bytes and back: docs/FORMAT.md, section 4. */
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
    footer.references.foreach(r => section(out, Section.References)(references(_, r)))
    out
  }

  /** @throws io.keyfold.errors.CorruptFile
    *   if a field does not fit, or fields contradict each other
    */
  def decode(bytes: Array[Byte], length: Int, path: String): Footer = {
    val in = new ByteSource(bytes, 0, length, path, "footer")
    var sections = Map.empty[Int, ByteSource]
    while (in.remaining > 0) {
      val code = in.u16()
      val flags = in.u16()
      val payload = in.part(in.length(), s"footer section $code")
      val known = code >= Section.Identity && code <= Section.References
      if (!known && (flags & Section.Required) != 0) {
        in.fail(s"section $code is required and this release does not know it")
      }
      if (sections.contains(code)) in.fail(s"section $code is there twice")
      if (known) sections += code -> payload
    }

    def read[T](code: Int)(body: ByteSource => T): T = {
      val payload = sections.getOrElse(code, in.fail(s"section $code is missing"))
      val value = body(payload)
      payload.end()
      value
    }
    def readIfThere[T](code: Int)(body: ByteSource => T): Option[T] =
      if (sections.contains(code)) Some(read(code)(body)) else None

    val footer = Footer(
      read(Section.Identity)(identity),
      read(Section.Lineage)(lineage),
      read(Section.Families)(families),
      readIfThere(Section.Dropped)(s => Seq.fill(s.u16())(s.str())).getOrElse(Nil),
      read(Section.Blocks)(blocks),
      read(Section.Groups)(groups),
      readIfThere(Section.References)(references)
    )
    check(footer, in)
    footer
  }

  private def check(footer: Footer, in: ByteSource): Unit = {
    if (footer.identity.keyGroups < 1) in.fail(s"${footer.identity.keyGroups} key groups")
    if (footer.identity.partitions < 0) in.fail(s"${footer.identity.partitions} partitions")
    footer.blocks.foreach { b =>
      if (b.family >= footer.families.length) in.fail(s"block of unknown family ${b.family}")
    }
    footer.groups.foreach { g =>
      if (g.group < 0 || g.group >= footer.identity.keyGroups) in.fail(s"key group ${g.group}")
      if (g.block < 0 || g.block >= footer.blocks.length) in.fail(s"group in block ${g.block}")
      if (g.family != footer.blocks(g.block).family) in.fail(s"group in a block of another family")
      if (g.entries < 1) in.fail(s"group of ${g.entries} entries")
    }
    val inBlocks = footer.blocks.iterator.map(_.entries.toLong).sum
    val inGroups = footer.groups.iterator.map(_.entries.toLong).sum
    if (inBlocks != inGroups) in.fail(s"$inGroups entries in groups, $inBlocks in blocks")
  }

  private def section(out: ByteSink, code: Int)(body: ByteSink => Unit): Unit = {
    val payload = new ByteSink
    body(payload)
    out.u16(code)
    out.u16(Section.Required)
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
      version = VersionId(in.i64(), in.str()),
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
    }
  }

  private def lineage(in: ByteSource): Seq[Ancestor] =
    Vector.fill(in.count(11)) {
      val version = in.i64()
      val kind = fileKind(in)
      Ancestor(VersionId(version, in.str()), kind)
    }

  private def families(out: ByteSink, families: Seq[Family]): Unit = {
    out.u16(families.length)
    families.zipWithIndex.foreach { case (f, id) =>
      out.u16(id)
      out.str(f.spec.name)
      out.u8(
        (if (f.spec.internal) FamilyFlag.Internal else 0) |
          (if (f.spec.multiValue) FamilyFlag.MultiValue else 0) |
          (if (f.spec.ordered) FamilyFlag.Ordered else 0)
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

  private def families(in: ByteSource): Seq[Family] =
    Vector.tabulate(in.u16()) { expected =>
      val id = in.u16()
      if (id != expected) in.fail(s"family id $id instead of $expected")
      val name = in.str()
      val flags = in.u8()
      val spec = FamilySpec(
        name,
        internal = (flags & FamilyFlag.Internal) != 0,
        multiValue = (flags & FamilyFlag.MultiValue) != 0,
        ordered = (flags & FamilyFlag.Ordered) != 0,
        keyEncoding = in.str(),
        rowEncoding = in.str(),
        partitionKey = in.str(),
        keySchemaId = in.i32(),
        valueSchemaId = in.i32()
      )
      Family(spec, keys = in.i64(), values = in.i64(), bytes = in.i64())
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

  private def blocks(in: ByteSource): IndexedSeq[Block] = {
    val n = in.count(27)
    val family = Array.fill(n)(in.u16())
    val codec = Array.fill(n) {
      val code = in.u8()
      Codec.ofCode(code).getOrElse(in.fail(s"unknown codec $code"))
    }
    val offset = Array.fill(n)(in.i64())
    val stored = Array.fill(n)(in.length())
    val raw = Array.fill(n)(in.length())
    val entries = Array.fill(n)(in.length())
    val checksum = in.ints(n)
    Vector.tabulate(n)(i =>
      Block(family(i), codec(i), offset(i), stored(i), raw(i), entries(i), checksum(i))
    )
  }

  private def groups(out: ByteSink, groups: IndexedSeq[GroupRun]): Unit = {
    out.i32(groups.length)
    groups.foreach(g => out.u16(g.family))
    groups.foreach(g => out.i32(g.group))
    groups.foreach(g => out.i32(g.block))
    groups.foreach(g => out.i32(g.entry))
    groups.foreach(g => out.i32(g.entries))
    groups.foreach(g => out.i64(g.bytes))
  }

  private def groups(in: ByteSource): IndexedSeq[GroupRun] = {
    val n = in.count(26)
    val family = Array.fill(n)(in.u16())
    val group = in.ints(n)
    val block = in.ints(n)
    val entry = in.ints(n)
    val entries = in.ints(n)
    val bytes = Array.fill(n)(in.i64())
    Vector.tabulate(n)(i => GroupRun(family(i), group(i), block(i), entry(i), entries(i), bytes(i)))
  }

  private def references(out: ByteSink, references: References): Unit = {
    out.str(references.planId)
    out.i32(references.files.length)
    references.files.foreach { f =>
      out.str(f.path)
      out.u8(f.kind.code)
      out.i64(f.version.version)
      out.str(f.version.id)
      out.i64(f.length)
      out.i32(f.groupModulus)
      out.i32(f.groupResidue)
      out.i32(f.rowModulus)
      out.i32(f.rowResidue)
    }
  }

  private def references(in: ByteSource): References =
    References(
      in.str(),
      Vector.fill(in.count(37)) {
        val path = in.str()
        val kind = fileKind(in)
        FileReference(
          path,
          kind,
          VersionId(in.i64(), in.str()),
          length = in.i64(),
          groupModulus = in.i32(),
          groupResidue = in.i32(),
          rowModulus = in.i32(),
          rowResidue = in.i32()
        )
      }
    )

  private def fileKind(in: ByteSource): FileKind = {
    val code = in.u8()
    FileKind.ofCode(code).getOrElse(in.fail(s"unknown file kind $code"))
  }
}
