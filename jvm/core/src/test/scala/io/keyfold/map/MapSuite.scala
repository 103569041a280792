package io.keyfold.map

import org.scalatest.funsuite.AnyFunSuite

/** Tests of one implementation of [[StateMap]], each on a map of its own. */
abstract class MapSuite extends AnyFunSuite with StateMapTexts {

  /** An empty map of that many key groups. */
  protected def newMap(keyGroups: Int): StateMap

  /** Lets go of all versions and looks for what is left of them. */
  protected def checkNothingLeft(map: StateMap): Unit

  /** Whether a row to which a transaction only appended is always told by the values added. */
  protected def tellsAdded: Boolean = true

  /** Whether rows stay in memory. */
  protected def isInMemory: Boolean = true

  protected def testMap(name: String)(body: StateMap => Any): Unit = test(name) {
    val map = newMap(keyGroups)
    try {
      body(map)
      checkNothingLeft(map)
    } finally map.close()
  }
}
