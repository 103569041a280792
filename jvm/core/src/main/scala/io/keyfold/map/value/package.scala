package io.keyfold.map

/** Duty: rows as they lie in the arena: records, and lists of values. Imports: `mem`. Threads:
  * belong to one thread at a time.
  */
package object value
