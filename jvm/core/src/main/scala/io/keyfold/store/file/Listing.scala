package io.keyfold.store.file

import io.keyfold.format.FileKind
import io.keyfold.model.VersionId

/** The files of a store as one request listed them. It may lag (G6): what it lacks may be there,
  * and what it has may have been replaced or deleted. So it saves requests and decides nothing: who
  * fails with it tries again with [[Listing.Unknown]].
  *
  * @param lengths
  *   in bytes, by name; None if they are not known
  */
private[store] final class Listing private (lengths: Option[Map[String, Long]]) {

  def isKnown: Boolean = lengths.isDefined

  def length(version: VersionId, kind: FileKind): Option[Long] =
    lengths.flatMap(_.get(kind.nameOf(version)))

  /** @param asked
    *   whether there is such a file, by a request for it alone
    */
  def has(version: VersionId, kind: FileKind)(asked: => Boolean): Boolean =
    if (isKnown) length(version, kind).isDefined else asked
}

private[store] object Listing {
  val Unknown = new Listing(None)

  def of(lengths: Map[String, Long]): Listing = new Listing(Some(lengths))
}
