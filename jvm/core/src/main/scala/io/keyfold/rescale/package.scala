package io.keyfold

/** Duty: what a rescale writes for one store, worked out from footers, listings and manifests
  * alone; no block is read. Imports: `errors`, `format`, `format.wire`, `group`, `io`, `model`.
  * Threads: a planner is used by one, a writer by any number.
  */
package object rescale
