package io.keyfold.io

import java.nio.file.{Files, Path}
import java.util.Comparator

import scala.collection.mutable

import org.scalatest.BeforeAndAfterEach

/** The guarantees of files for a store over a local folder, which is deleted after each test. */
abstract class LocalFilesSuiteBase extends BlobStoreSuiteBase with BeforeAndAfterEach {
  protected val roots: mutable.Map[BlobStore, Path] = mutable.Map.empty

  protected def storeAt(root: Path): BlobStore

  override protected def newStore(): BlobStore = at(Files.createTempDirectory("keyfold"))

  override protected def reopened(store: BlobStore): BlobStore = at(roots(store))

  private def at(root: Path): BlobStore = {
    val store = storeAt(root)
    roots(store) = root
    store
  }

  override def afterEach(): Unit = {
    roots.values.toSet.foreach { (root: Path) =>
      val files = Files.walk(root)
      try files.sorted(Comparator.reverseOrder[Path]).forEach(Files.delete)
      finally files.close()
    }
    roots.clear()
  }
}
