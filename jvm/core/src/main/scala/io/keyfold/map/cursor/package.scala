package io.keyfold.map

/** Duty: cursors over rows and changes, and the lock that admits threads to a view. Imports:
  * `errors`, `map`, `map.value`, `map.version`, `mem`, `mem.arena`, `model`. Threads: see
  * [[cursor.ViewLock]].
  */
package object cursor
