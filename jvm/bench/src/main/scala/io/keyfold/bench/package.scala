package io.keyfold

/** Measures state store providers side by side, and writes `docs/benchmarks.md`.
  *
  * This package runs cells one by one, each in a JVM of its own, and keeps their results; it knows
  * neither Spark nor Keyfold. What is measured is in [[bench.cell]], in that other JVM.
  */
package object bench
