package io.keyfold.spark.checkpoint

/** A suite whose tests share an S3 server. */
trait OnS3 extends OnServer[S3Server] {
  override protected def start(): S3Server = S3Server.needed()
}
