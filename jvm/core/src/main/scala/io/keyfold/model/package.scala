package io.keyfold

/** Duty: identifiers and metadata used both in memory and in files: versions, column families,
  * locations, names. Imports: `errors`. Threads: immutable.
  */
package object model
