package io.keyfold.format

/** Duty: the bytes below all files: little-endian fields, checksums, compression. Imports:
  * `errors`, `mem`. Threads: a sink or source belongs to one thread.
  */
package object wire
