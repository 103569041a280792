package io.keyfold

/** Duty: addressing bytes wherever they live, on the heap or off it. The only package that uses
  * Unsafe. Imports nothing of Keyfold. Threads: no state; a [[mem.Slice]] belongs to one thread.
  */
package object mem
