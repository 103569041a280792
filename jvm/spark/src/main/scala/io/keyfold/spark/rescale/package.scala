package io.keyfold.spark

/** Duty: changing the number of partitions of a stopped query: plan, apply, resume; what Python
  * calls is `RescaleApi`. Imports: `errors`, `format`, `io`, `model`, `rescale`, `spark`,
  * `sql.keyfold`. Threads: each object belongs to one.
  */
package object rescale
