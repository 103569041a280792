package io.keyfold

/** Duty: access to bytes on and off the heap, and off-heap memory management. The only package that
  * uses Unsafe. Bottom up: [[mem.Mem]] reads and writes, a [[mem.PagePool]] limits the memory of a
  * JVM and spills to files beyond that, an [[mem.Arena]] has the objects of one store. Imports:
  * `errors`. Threads: Mem and PagePool any; an arena and a [[mem.Slice]] belong to one thread at a
  * time.
  */
package object mem
