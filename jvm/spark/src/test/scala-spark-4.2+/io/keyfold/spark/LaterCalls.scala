package io.keyfold.spark

/** In older lines, the methods of this one. */
trait LaterCalls
