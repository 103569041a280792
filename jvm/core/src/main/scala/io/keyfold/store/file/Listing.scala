package io.keyfold.store.file

import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.io.ListedFile
import io.keyfold.model.VersionId

/** The files of a store as one request listed them. It may lag (G6): what it lacks may be there,
  * and what it has may have been replaced or deleted. So it saves requests and decides nothing: who
  * fails with it tries again with [[Listing.Unknown]].
  *
  * @param files
  *   by name; None if they are not known
  */
private[keyfold] final class Listing private (
    files: Option[Map[String, ListedFile]],
    names: Iterable[String]
) {

  def isKnown: Boolean = files.isDefined

  def file(version: VersionId, kind: FileKind): Option[ListedFile] =
    files.flatMap(_.get(kind.nameOf(version)))

  /** The merged deltas of a version, the one of a lineage included. */
  def merged(here: Ancestor): Seq[FileKind] =
    (here.kind +: kinds.getOrElse(here.version, Nil)).filter(_.base.isDefined).distinct

  private lazy val kinds =
    names.flatMap(FileKind.parse).groupMap(_._1)(_._2).map { case (of, it) => of -> it.toSeq }

  /** The versions with ids of which there are files, from a number on. */
  def versionsFrom(number: Long): Set[VersionId] =
    kinds.keySet.filter(it => it.id.nonEmpty && it.version >= number).toSet

  /** Only the names of merged deltas, which cannot be asked for one by one. */
  def asHint: Listing = Listing.ofNames(names)

  /** @param asked
    *   whether there is such a file, by a request for it alone
    */
  def has(version: VersionId, kind: FileKind)(asked: => Boolean): Boolean =
    if (isKnown) file(version, kind).isDefined else asked
}

private[keyfold] object Listing {
  val Unknown = new Listing(None, Nil)

  /** Which files there are, and nothing of them. */
  def ofNames(names: Iterable[String]): Listing = new Listing(None, names)

  def of(files: Map[String, ListedFile]): Listing = new Listing(Some(files), files.keys)
}
