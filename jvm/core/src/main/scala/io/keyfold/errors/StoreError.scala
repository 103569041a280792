package io.keyfold.errors

import scala.util.matching.Regex

/** Errors of a store, classified by what the caller can do about them.
  *
  * Every message says what happened, where, and what to do next; `condition` is the stable error
  * name, which Python also uses.
  */
sealed abstract class StoreError(val condition: String, message: String, cause: Throwable)
    extends RuntimeException(s"[$condition] ${StoreError.printable(message)}", cause)

private object StoreError {

  /** Names in messages come from files, and messages go to terminals and logs: control characters
    * and those that reverse the text direction are escaped.
    */
  def printable(text: String): String = Control.replaceAllIn(
    text,
    found => Regex.quoteReplacement(f"\\u${found.matched.charAt(0).toInt}%04x")
  )

  private val Control =
    "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]".r
}

/** A Keyfold file that is damaged. */
final class CorruptFile(val path: String, val detail: String, cause: Throwable = null)
    extends StoreError(
      "KEYFOLD_FILE_CORRUPT",
      s"Cannot read $path: $detail. The file was damaged after it was written; restore it from a " +
        "copy, or restart from an earlier batch.",
      cause
    )

/** A file that a version needs does not exist. */
final class MissingFile(val path: String, detail: String, cause: Throwable = null)
    extends StoreError("KEYFOLD_FILE_MISSING", s"Cannot find $path: $detail", cause)

/** A file with a format version or a required section that this release does not know. */
final class UnknownFormat(val path: String, detail: String)
    extends StoreError(
      "KEYFOLD_FORMAT_VERSION",
      s"Cannot read $path: $detail. Use the Keyfold release that wrote it, or a newer one.",
      null
    )

/** A file in Keyfold's place that another program wrote. */
final class ForeignFile(val path: String, detail: String)
    extends StoreError(
      "KEYFOLD_NOT_A_KEYFOLD_FILE",
      s"$path was not written by Keyfold: $detail. The state store provider of a checkpoint cannot " +
        "be changed by configuration: run the query with the provider that wrote the checkpoint, " +
        "migrate the checkpoint (`keyfold migrate`), or start the query with Keyfold on a new one.",
      null
    )

/** Files and query disagree on the placement of rows. */
final class LayoutMismatch(condition: String, message: String)
    extends StoreError(condition, message, null)

/** A column family of a version differs from the one that the query expects. */
final class FamilyMismatch(message: String, val found: String, val wanted: String)
    extends StoreError("KEYFOLD_FAMILY_MISMATCH", message, null)

/** A row was handed to a partition that does not own it, after a rescale moved rows by their hash.
  */
final class MisplacedRow(message: String) extends StoreError("KEYFOLD_ROW_MISPLACED", message, null)

/** A row was damaged in memory. */
final class CorruptRow(val store: String, val expected: Int, val computed: Int)
    extends StoreError(
      "KEYFOLD_ROW_CORRUPT",
      f"A row of $store has checksum $computed%08x instead of $expected%08x: it was damaged in " +
        "the executor's memory. Files are not affected; the task's retry loads the row again. " +
        "If this happens repeatedly on one machine, test that machine's memory.",
      null
    )

/** A committed version cannot be rebuilt from the remaining files. */
final class UnreadableVersion(message: String, cause: Throwable)
    extends StoreError("KEYFOLD_VERSION_UNREADABLE", message, cause)

/** An argument or setting out of range, or an operation that this release does not support. */
final class Invalid(condition: String, message: String, cause: Throwable = null)
    extends StoreError(condition, message, cause)

/** The caller used a store out of order, such as writing after a commit. */
final class OutOfOrder(message: String) extends StoreError("KEYFOLD_OUT_OF_ORDER", message, null)

/** Memory for state is used up, on disk too. */
final class OutOfMemory(message: String, cause: Throwable = null)
    extends StoreError("KEYFOLD_OUT_OF_MEMORY", message, cause)

/** A local file that has state beyond the memory budget cannot be read. */
final class LocalFileFailed(message: String, cause: Throwable = null)
    extends StoreError("KEYFOLD_LOCAL_FILE_FAILED", message, cause)

/** A rescale was refused. */
final class RescaleRefused(condition: String, message: String, cause: Throwable = null)
    extends StoreError(condition, message, cause)
