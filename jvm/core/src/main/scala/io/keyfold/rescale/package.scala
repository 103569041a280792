package io.keyfold

/** Duty: plans and writes the rescale of one store from footers, listings and manifests alone;
  * reads no blocks. Imports: `errors`, `format`, `format.wire`, `group`, `io`, `model`,
  * `store.file`. Threads: a planner belongs to one thread, a writer may be used by any number.
  */
package object rescale
