package io.keyfold

/** Duty: access to bytes on and off the heap: [[mem.Mem]] reads and writes, a [[mem.Slice]] says
  * where. The only package that uses Unsafe. `mem.page` limits the memory of a JVM, `mem.arena` has
  * the objects of a store. Imports: nothing. Threads: Mem any; a slice belongs to one thread at a
  * time.
  */
package object mem
