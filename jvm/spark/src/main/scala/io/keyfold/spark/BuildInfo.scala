package io.keyfold.spark

import java.nio.charset.StandardCharsets.UTF_8

/** Facts of the build. */
private object BuildInfo {

  /** From the repository's VERSION file, which the build packages with the classes. */
  val version: String = {
    val in = getClass.getResourceAsStream("/io/keyfold/VERSION")
    try new String(in.readAllBytes(), UTF_8).trim
    finally in.close()
  }
}
