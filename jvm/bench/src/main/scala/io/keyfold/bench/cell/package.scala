package io.keyfold.bench

/** What runs in the JVM of a cell: Spark's state store providers, driven as a task drives them.
  *
  * A [[cell.Work]] is one operation, [[cell.Rounds]] repeats and times it. Nothing here knows which
  * provider it measures but by the class name it is given.
  */
package object cell
