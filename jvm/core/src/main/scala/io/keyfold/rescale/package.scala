package io.keyfold

/** Duty: what a rescale writes for one store, worked out from footers, listings and manifests
  * alone; no block is read. Imports `format`, `group`, `io`, `store` (where a store is), `errors`.
  * Threads: a planner is used by one, a writer by any number.
  */
package object rescale
