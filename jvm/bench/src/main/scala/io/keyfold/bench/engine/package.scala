package io.keyfold.bench

/** Measures the engine alone, without Spark and without files: in half a minute it shows what a
  * streaming query hides in its own time.
  */
package object engine
