package io.keyfold.mem

/** Duty: pages of off-heap memory: a [[page.PagePool]] limits the memory of a JVM and spills to
  * files beyond that. Imports: `errors`, `io`, `mem`. Threads: any.
  */
package object page
