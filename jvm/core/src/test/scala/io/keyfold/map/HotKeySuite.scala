package io.keyfold.map

import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.Slice
import io.keyfold.mem.page.PagePool
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

/** A key that is read and put for each row of a batch, as by `transformWithState`. */
class HotKeySuite extends AnyFunSuite with StateMapTexts {
  for (spec <- Seq(hashed, ordered, lists, orderedLists)) {
    val name = s"${spec.name}, ${if (spec.multiValue) "lists" else "values"}"

    test(s"$name: no read keeps memory, and what was read stays as it was") {
      val map = new ArenaMap(keyGroups, new PagePool(1L << 30, None))
      val txn = map.begin(VersionId.Empty)
      val family = txn.createFamily(spec)
      val hot = slice("hot")
      val read = Array.fill(2)(new Slice)
      def putAndGet(times: Int): Long = {
        for (n <- 1 to times) {
          put(txn, "hot", n.toString, family)
          assert(txn.get(family, hashOf("hot"), hot, read(n % 2)))
          if (n > 1) assert(text(read((n - 1) % 2)) == (n - 1).toString)
        }
        map.liveObjects
      }
      val few = putAndGet(10)
      assert(putAndGet(10000) == few)
      txn.release()
      map.close()
    }
  }
}
