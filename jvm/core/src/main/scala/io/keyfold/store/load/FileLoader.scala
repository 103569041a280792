package io.keyfold.store.load

import java.io.IOException

import io.keyfold.errors.{CorruptFile, ForeignFile, Invalid, StoreError, UnreadableVersion}
import io.keyfold.format.{Ancestor, FileKind, Footer}
import io.keyfold.io.OnFailure
import io.keyfold.map.StateMap
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.store.file.{
  Lineage,
  LineageReader,
  Listing,
  RowChecksum,
  StoreCounters,
  StoreFiles,
  StoreSettings,
  VersionChain
}
import org.slf4j.LoggerFactory

/** Rebuilds a version from files: the newest usable snapshot of its lineage, or the reference at
  * its end, then the merged deltas and deltas after it.
  *
  * @param newMap
  *   creates the map to fill, given the files' number of key groups
  * @param onListing
  *   called with each version that is to be loaded, and the files that are there
  */
private[store] final class FileLoader(
    files: StoreFiles,
    location: StoreLocation,
    settings: StoreSettings,
    counters: StoreCounters,
    newChecksum: () => RowChecksum,
    newMap: Int => StateMap,
    onListing: (VersionId, Listing) => Unit
) {
  import ChainApplier.Unusable
  import FileLoader.log
  import LineageReader.Head

  /** No rows are left for later any more once some could not be put: a load that puts all at once
    * finds out which files to use instead.
    */
  @volatile private var lazyFromBytes = settings.lazyFromBytes

  /** Loads a version into a new map and commits it there.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the version cannot be rebuilt
    */
  def load(target: VersionId): LoadedVersions = {
    try load(target, files.listing())
    catch {
      case e: StoreError if SnapshotFallback.isMissing(e) =>
        log.info("Loading {} version {} again without its listing: {}", location, target, e)
        load(target, namesListedAfter(e))
    }
  }

  private def namesListedAfter(missing: StoreError) =
    try files.listed().asHint
    catch {
      case e: IOException =>
        missing.addSuppressed(e)
        throw missing
    }

  private def load(target: VersionId, listing: Listing): LoadedVersions = {
    onListing(target, listing)
    val head = readHead(target, listing)
    var lost: Option[(Ancestor, StoreError)] = None
    def chainWithout(unusable: Set[Ancestor]) = VersionChain.of(
      head.lineage,
      tiers(listing, unusable)((tier, cause) => lost = Some(tier -> cause))
    )
    val fallback = new SnapshotFallback(s"$location version $target", settings.repair, counters)
    fill(head, listing) { applier =>
      fallback
        .build(chainWithout)(applier.applyAll)
        .getOrElse {
          val (tier, cause) = lost.getOrElse(head.lineage.last -> null)
          throw noOtherWay(target, tier, cause)
        }
    }
  }

  /** Rebuilds `end` from exactly the snapshot `start` and the deltas after it, to verify those
    * files.
    *
    * @throws io.keyfold.errors.StoreError
    *   if there is no such snapshot, or a delta cannot be read
    */
  def replay(start: VersionId, end: VersionId): LoadedVersions = {
    requireBetween(start.version, end)
    val head = readHead(end)
    val versions = between(start.version, head)
    def none = new UnreadableVersion(
      s"Cannot replay $location version $end from the snapshot of version $start: there is none.",
      null
    )
    if (!versions.headOption.contains(start) || !files.hasSnapshot(start)) throw none
    fill(head, Listing.Unknown) { applier =>
      val deltas = versions.tail.map(Ancestor(_, FileKind.Delta))
      val chain = VersionChain(Some(Ancestor(start, FileKind.Snapshot)), deltas)
      applier.applyAll(chain) match {
        case Right(lineage)                   => lineage
        case Left(Unusable.Damaged(_, cause)) => throw cause
        case Left(Unusable.Replaced(_))       => throw none
      }
    }
  }

  /** Without ids the head may be replaced meanwhile: the version keeps the head that was read.
    *
    * @param build
    *   commits the version and returns its lineage
    */
  private def fill(head: Head, listing: Listing)(
      build: ChainApplier => Lineage
  ): LoadedVersions = {
    val target = head.version
    val keyGroups = head.footer.identity.keyGroups
    val map = newMap(keyGroups)
    OnFailure(map.close()) {
      val applier =
        new ChainApplier(
          files,
          listing,
          location,
          target,
          head.footer,
          map,
          newChecksum(),
          lazyFromBytes,
          () => lazyFromBytes = Long.MaxValue
        )
      val built = build(applier)
      val made = Option.when(built.head.kind != FileKind.Delta)(head.footer.lineage.toList)
      val lineage = built.copy(file = head.madeOf, made = made)
      val loaded = new LoadedVersions(map, keyGroups)
      loaded.committed(lineage)
      loaded
    }
  }

  /** The versions that are written, from number `from` up to `end`, oldest first.
    *
    * @throws io.keyfold.errors.StoreError
    *   if they cannot be found, or a rescale lies between
    */
  def versions(from: Long, end: VersionId): List[VersionId] = {
    requireBetween(from, end)
    val head = readHead(end.written)
    if (head.kind == FileKind.Reference && from <= head.version.version) {
      throw noDeltas(from, end, head.version)
    }
    between(from, head)
  }

  private def requireBetween(from: Long, end: VersionId): Unit =
    if (from < 1 || from > end.version) {
      throw new Invalid(
        "KEYFOLD_INVALID_VERSION",
        s"Invalid version $from of $location: it must be between 1 and ${end.version}"
      )
    }

  private def between(from: Long, head: Head): List[VersionId] = {
    val (above, rest) = VersionChain
      .ancestry(head.lineage)(it => readHead(it.version).lineage)
      .span(_.version.version > from)
    val newer = above.map(_.version).toList
    rest.nextOption() match {
      case Some(Ancestor(version, _)) if version.version < from => newer.reverse
      case Some(Ancestor(version, kind))
          if (newer.isEmpty || kind != FileKind.Reference) && !beganEmpty(readHead(version)) =>
        version :: newer.reverse
      case found => throw noDeltas(from, head.version, found.fold(newer.last)(_.version))
    }
  }

  /** Whether there is no delta of the version; of version 1 there always was. */
  private def beganEmpty(head: Head) = head.version.version > 1 &&
    head.kind == FileKind.Snapshot && head.footer.lineage.isEmpty

  private def noDeltas(from: Long, end: VersionId, here: VersionId) = new UnreadableVersion(
    s"Cannot go back from $location version $end to version $from: version $here does not build " +
      "on deltas (the query started there with empty state, its partitions were rescaled, or its " +
      "rows were written anew).",
    null
  )

  /** The footer of a version's head; None if it has no Keyfold files. */
  def head(version: VersionId): Option[Footer] =
    try
      if (version == VersionId.Empty) None
      else reading(version)(files.headIfThere(version)).map(_.footer)
    catch { case _: ForeignFile => None }

  private def readHead(version: VersionId, listing: Listing = Listing.Unknown): Head =
    reading(version)(files.head(version, listing))

  private def reading[T](version: VersionId)(read: => T): T =
    try read
    catch {
      case e: CorruptFile =>
        throw new UnreadableVersion(
          s"Cannot load $location version $version: ${e.getMessage} The versions before it do not " +
            "need this file.",
          e
        )
    }

  /** @param lost
    *   is told of a version whose files are neither there nor replaced by its delta
    */
  private def tiers(listing: Listing, unusable: Set[Ancestor])(
      lost: (Ancestor, StoreError) => Unit
  ) =
    new VersionChain.Tiers {
      override def hasSnapshot(here: Ancestor): Boolean =
        !unusable(Ancestor(here.version, FileKind.Snapshot)) &&
          (here.kind == FileKind.Snapshot || files.hasSnapshot(here.version, listing))

      override def merged(here: Ancestor): Seq[FileKind] =
        listing.merged(here).filterNot(kind => unusable(Ancestor(here.version, kind)))

      override def lineageIn(merged: Ancestor): List[Ancestor] = files.lineageIn(merged, listing)

      override def lineageBelow(here: Ancestor): List[Ancestor] =
        try {
          val head = readHead(here.version)
          if (head.kind != FileKind.Snapshot) head.lineage
          else {
            lost(here, null)
            Nil
          }
        } catch {
          case e: StoreError =>
            lost(here, e)
            Nil
        }
    }

  private def noOtherWay(target: VersionId, tier: Ancestor, cause: StoreError) = {
    val what = if (tier.kind.base.isDefined) "merged delta" else "snapshot"
    new UnreadableVersion(
      s"Cannot load $location version $target: the $what of version ${tier.version} cannot be used, and " +
        "no other files have its rows. Versions after a newer snapshot may still be read.",
      cause
    )
  }
}

private object FileLoader {
  private val log = LoggerFactory.getLogger(classOf[FileLoader])
}
