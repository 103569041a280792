package io.keyfold.map

/** Duty: the layout of rows in the arena: records, and lists of values. Imports: `group`, `mem`,
  * `mem.arena`. Threads: belong to one thread at a time.
  */
package object value
