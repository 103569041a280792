package io.keyfold.map

class HeapMapSuite extends StateMapSuiteBase {
  override protected def newMap(keyGroups: Int): StateMap = new HeapMap(keyGroups)
}
