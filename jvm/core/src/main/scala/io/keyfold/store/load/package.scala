package io.keyfold.store

/** Duty: loads a version: finds the files it needs and puts their entries into a map. Imports:
  * `errors`, `format`, `group`, `io`, `map`, `mem`, `model`, `store.file`. Threads: a load belongs
  * to one thread; others open its files and read blocks ahead of it.
  */
package object load
