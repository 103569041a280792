package io.keyfold.model

import org.scalatest.funsuite.AnyFunSuite

/** Ids of versions lead to earlier ones, and say in whose place they are: docs/FORMAT.md, 2.1, 2.2.
  */
class VersionIdSuite extends AnyFunSuite {
  for (
    (id, original) <- Seq(
      "a" -> VersionId(9, "a"),
      "b~a" -> VersionId(9, "a"),
      "=7_a" -> VersionId(7, "a"),
      "b~=7_a" -> VersionId(7, "a"),
      "=8_b~a" -> VersionId(8, "a"),
      "=8_b~=7_a" -> VersionId(7, "a")
    )
  )
    test(s"version 9 with id $id is in the place of $original, and so is another attempt at it") {
      assert(VersionId(9, id).original == original)
      val again = VersionId(9, id).again("c")
      assert(again.id.startsWith("c~") && Names.isId(again.id))
      assert(again.original == original && again.written == again)
      assert(again.again("d").id.length == again.id.length)
    }
}
