package io.keyfold.store.file

import io.keyfold.format.FileKind
import io.keyfold.io.ListedFile
import io.keyfold.model.VersionId

/** The files of a store as one request listed them. It may lag (G6): what it lacks may be there,
  * and what it has may have been replaced or deleted. So it saves requests and decides nothing: who
  * fails with it tries again with [[Listing.Unknown]].
  *
  * @param files
  *   by name; None if they are not known
  */
private[keyfold] final class Listing private (files: Option[Map[String, ListedFile]]) {

  def isKnown: Boolean = files.isDefined

  def file(version: VersionId, kind: FileKind): Option[ListedFile] =
    files.flatMap(_.get(kind.nameOf(version)))

  /** @param asked
    *   whether there is such a file, by a request for it alone
    */
  def has(version: VersionId, kind: FileKind)(asked: => Boolean): Boolean =
    if (isKnown) file(version, kind).isDefined else asked
}

private[keyfold] object Listing {
  val Unknown = new Listing(None)

  def of(files: Map[String, ListedFile]): Listing = new Listing(Some(files))
}
