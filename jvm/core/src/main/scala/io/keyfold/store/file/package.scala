package io.keyfold.store

/** Duty: the files of one store, by version: naming, opening, and writing rows to them. Imports:
  * `errors`, `format`, `format.wire`, `group`, `io`, `map`, `mem`, `model`. Threads: files may be
  * written by several threads at once.
  */
package object file
