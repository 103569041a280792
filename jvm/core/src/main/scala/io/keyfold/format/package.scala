package io.keyfold

/** Duty: the bytes of delta, snapshot and reference files, plans and manifests, as docs/FORMAT.md
  * defines them; writer and reader. Imports: `errors`, `format.wire`, `group`, `io`, `mem`,
  * `model`. Threads: a writer or reader belongs to one thread.
  */
package object format
