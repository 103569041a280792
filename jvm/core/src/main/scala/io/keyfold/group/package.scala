package io.keyfold

/** Duty: hash to key group, key group to partition; pure functions (docs/FORMAT.md, section 6).
  * Imports: nothing. Threads: no state.
  */
package object group
