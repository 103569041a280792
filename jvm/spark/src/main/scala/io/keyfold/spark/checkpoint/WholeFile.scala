package io.keyfold.spark.checkpoint

import java.io.OutputStream

import org.apache.spark.sql.keyfold.SparkShim

/** A new checkpoint file that becomes visible whole when it is closed, or never.
  *
  * @param out
  *   takes the content
  * @param create
  *   makes the file visible; is done once
  * @param drop
  *   removes what was written; does nothing after `create`, also if that failed
  */
private final class WholeFile(out: OutputStream)(create: => Unit)(drop: => Unit)
    extends SparkShim.CancellableStream(out) {
  private var ended = false

  override def close(): Unit = synchronized {
    if (!ended) {
      ended = true
      create
    }
  }

  override def cancel(): Unit = synchronized {
    ended = true
    drop
  }
}
