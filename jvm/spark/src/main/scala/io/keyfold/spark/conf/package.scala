package io.keyfold.spark

/** Duty: Keyfold's settings, the names of providers, and what this build is. Imports: `errors`,
  * `format.wire`, `group`. Threads: immutable.
  */
package object conf
