package io.keyfold.model

import java.nio.charset.StandardCharsets.UTF_8

/** Checks of names read from files and logs: docs/FORMAT.md, section 2. A valid name never leads
  * out of the folder of the checkpoint's state.
  */
object Names {
  private val Folder = """state/(?:0|[1-9]\d{0,18})/(?:0|[1-9]\d{0,9})(?:/([^/]+))?""".r

  /** Whether the text can be the id of a version that is written, and so part of a file's name. */
  def isId(text: String): Boolean =
    !text.startsWith(VersionId.Same) && !text.exists(c => c == '/' || c == '.' || isControl(c))

  /** Whether the text can be the name of a store, and so of a folder. */
  def isStore(text: String): Boolean =
    text.nonEmpty && text != "." && text != ".." && !text.exists(c => c == '/' || isControl(c))

  /** Whether this is the path of a store's folder. */
  def isFolder(path: String): Boolean = path match {
    case Folder(store) => store == null || isStore(store)
    case _             => false
  }

  /** Whether this is the path of a file in a store's folder.
    *
    * @param name
    *   of the file
    */
  def isFile(path: String, name: String): Boolean =
    path.endsWith(s"/$name") && isFolder(path.dropRight(name.length + 1))

  /** Maximum number of column families of a version, and of bytes of a name. */
  val Most: Int = 0xffff

  /** Whether a name can be written to a file and read back unchanged. */
  def isText(text: String): Boolean =
    UTF_8.newEncoder.canEncode(text) && text.getBytes(UTF_8).length <= Most

  private def isControl(c: Char) = c < ' ' || c == '\u007f'
}
