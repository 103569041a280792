package io.keyfold

/** Duty: bytes wherever they live, on the heap or off it, and memory off the heap to put them in.
  * The only package that uses Unsafe. From the ground up: [[mem.Mem]] reads and writes, a
  * [[mem.PagePool]] bounds what a JVM takes and goes on in files beyond that, an [[mem.Arena]] has
  * the objects of one store. Imports: `errors`. Threads: Mem and PagePool any; an arena and a
  * [[mem.Slice]] belong to one thread at a time.
  */
package object mem
