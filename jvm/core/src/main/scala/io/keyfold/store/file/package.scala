package io.keyfold.store

/** Duty: the files of one store, by version: which there are, what rows go into them. Imports:
  * `errors`, `format`, `format.wire`, `group`, `io`, `map`, `mem`, `model`. Threads: files may be
  * written by several threads at once.
  */
package object file
