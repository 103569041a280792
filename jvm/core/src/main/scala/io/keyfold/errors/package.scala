package io.keyfold

/** Duty: the failures a store reports, few kinds, each with a stable condition name. Imports:
  * nothing. Threads: immutable.
  */
package object errors
