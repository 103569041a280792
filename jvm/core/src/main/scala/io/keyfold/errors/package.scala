package io.keyfold

/** Duty: the errors of a store, each with a stable condition name. Imports: nothing. Threads:
  * immutable.
  */
package object errors
