package io.keyfold.spark

/** Duty: changing the number of partitions of a stopped query: plan, apply, resume; what Python
  * calls is `RescaleApi`. Imports: `errors`, `format`, `io`, `rescale`, `spark`, `sql.keyfold`,
  * `store`. Threads: each object belongs to one.
  */
package object rescale
