package io.keyfold.map

/** Duty: stepping through rows and changes, and which thread may. Imports: `errors`, `map`,
  * `map.value`, `map.version`, `mem`, `model`. Threads: see [[cursor.ViewLock]].
  */
package object cursor
