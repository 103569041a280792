package io.keyfold.spark

/** Duty: encodes Spark's rows as bytes of keys and values: docs/FORMAT.md, section 5. Imports:
  * `format.wire`, `mem`, `sql.keyfold`. Threads: a codec belongs to one thread.
  */
package object encoding
