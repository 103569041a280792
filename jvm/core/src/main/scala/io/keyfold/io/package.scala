package io.keyfold

/** Duty: file access by name with numbered guarantees; implementations and wrappers; threads.
  * Imports: nothing. Threads: a store may be used by several threads at once, a reader belongs to
  * one.
  */
package object io
