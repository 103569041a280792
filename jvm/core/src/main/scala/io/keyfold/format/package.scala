package io.keyfold

/** Duty: the bytes of delta, snapshot and reference files, plans and manifests, as docs/FORMAT.md
  * defines them; writer and reader. Imports: `errors`, `group`, `io`, `mem`. Threads: a writer or
  * reader belongs to one thread.
  */
package object format
