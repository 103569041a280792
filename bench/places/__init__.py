"""Streaming queries whose checkpoints are on a local disk, an S3 server or an HDFS."""
