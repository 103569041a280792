package io.keyfold

/** Duty: what a store is made of and called, in memory and in files alike: versions, column
  * families, locations, names. Imports: `errors`. Threads: immutable.
  */
package object model
