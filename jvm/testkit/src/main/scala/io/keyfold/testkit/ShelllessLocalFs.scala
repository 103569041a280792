package io.keyfold.testkit

import java.net.URI
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

import scala.annotation.unused

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumFs, DelegateToFileSystem, FileStatus, FsConstants}
import org.apache.hadoop.fs.{FsServerDefaults, LocalFileSystem, Path, RawLocalFileSystem}
import org.apache.hadoop.fs.local.LocalConfigKeys
import org.apache.hadoop.fs.permission.FsPermission

/** Hadoop's `file:` for `FileContext`, checksums included, without a process per file.
  *
  * Without its native library Hadoop runs chmod for each file it creates and readlink for each file
  * it renames; with hundreds of small checkpoint files a test that is most of the time. Hadoop's
  * own way to build a file system wants both arguments.
  */
final class ShelllessLocalFs(@unused uri: URI, conf: Configuration)
    extends ChecksumFs(new ShelllessRawLocalFs(conf))

/** The same for Hadoop's older interface, `FileSystem`. */
final class ShelllessLocalFileSystem extends LocalFileSystem(new ShelllessRawLocalFileSystem)

private final class ShelllessRawLocalFs(conf: Configuration)
    extends DelegateToFileSystem(
      FsConstants.LOCAL_FS_URI,
      new ShelllessRawLocalFileSystem,
      conf,
      FsConstants.LOCAL_FS_URI.getScheme,
      false
    ) {
  // All of these as in Hadoop's RawLocalFs, whose constructor is closed to us.
  override def getUriDefaultPort: Int = -1
  override def getServerDefaults: FsServerDefaults = LocalConfigKeys.getServerDefaults
  override def getServerDefaults(path: Path): FsServerDefaults = getServerDefaults
  override def isValidName(name: String): Boolean = true
}

private final class ShelllessRawLocalFileSystem extends RawLocalFileSystem {
  override def setPermission(path: Path, permission: FsPermission): Unit =
    // Java knows the nine bits, not the sticky one.
    if (permission.getStickyBit) super.setPermission(path, permission)
    else {
      val bits = PosixFilePermissions.fromString(permission.toString)
      Files.setPosixFilePermissions(pathToFile(path).toPath, bits)
      ()
    }

  override def getFileLinkStatus(path: Path): FileStatus =
    if (Files.isSymbolicLink(pathToFile(path).toPath)) super.getFileLinkStatus(path)
    else getFileStatus(path)
}
