package io.keyfold.spark

/** Duty: Keyfold's settings, and the names of providers. Imports: `errors`, `format.wire`, `group`.
  * Threads: immutable.
  */
package object conf
