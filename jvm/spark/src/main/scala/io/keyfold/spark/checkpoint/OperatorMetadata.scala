package io.keyfold.spark.checkpoint

import java.io.ByteArrayOutputStream

import org.apache.hadoop.fs.{FSDataOutputStream, Path}
import org.apache.spark.sql.execution.streaming.state._

/** Changes Spark's metadata of a checkpoint's operators, of those whose metadata have versions.
  * (Spark's own writer does not replace any.)
  */
private[spark] final class OperatorMetadata(logs: CheckpointLogs) {
  import OperatorMetadata._
  import logs.files

  /** From a batch on, gives the operators a new number of partitions. Replaces metadata of that
    * batch from another try.
    */
  def rescale(batch: Long, of: Long, from: Int, to: Int): Unit =
    rescaled(of, from, to).foreach { operator =>
      val path = pathOf(operator, batch)
      // Some file managers keep a file that is there, and do not say so.
      files.delete(path)
      files.replace(path, encode(operator))
    }

  /** The operators with a new number of partitions. */
  def rescaled(of: Long, from: Int, to: Int): Seq[OperatorStateMetadataV2] =
    operators(of).map { operator =>
      operator.copy(stateStoreInfo = operator.stateStoreInfo.map { store =>
        // An operator in one task stays there. Another number than `from` is that of a driver that
        // has begun the batch and did not know of a rescale before it: Spark keeps what it wrote.
        if (store.numPartitions == 1 && from != 1) store else store.copy(numPartitions = to)
      })
    }

  /** Removes what Spark has written about the operators of a batch that is not committed, right
    * before it plans the batch again. It writes that in the first batch of a run, when it plans it,
    * and never replaces it: so what an attempt that failed had declared would count for the batch,
    * also if the attempt that commits it declares other state. A start that fails before removes
    * nothing: another driver may still run the batch.
    */
  def remove(batch: Long): Unit =
    logs.operatorFolders.foreach(operator => files.delete(pathOf(operator, batch)))

  /** The operators as of a batch for a copy of the checkpoint: they contain absolute paths.
    *
    * @return
    *   files of the copy, relative to it, and their contents
    */
  def of(batch: Long, copy: CheckpointFiles): Seq[(String, Array[Byte])] =
    operators(batch).map { operator =>
      val stores = operator.stateStoreInfo.map { store =>
        val schemas = store.stateSchemaFilePaths.map(file => copy.resolve(inside(file)).toString)
        store.copy(stateSchemaFilePaths = schemas)
      }
      pathOf(operator, batch) -> encode(operator.copy(stateStoreInfo = stores))
    }

  /** Schema files that the operators as of a batch name, and that are not in the checkpoint. */
  def lostSchemas(batch: Long): Seq[String] =
    for {
      operator <- operators(batch)
      store <- operator.stateStoreInfo.toSeq
      file <- store.stateSchemaFilePaths if !files.exists(inside(file))
    } yield file

  private def operators(batch: Long) =
    logs.metadata(batch).collect { case operator: OperatorStateMetadataV2 => operator }

  /** Path of a schema file relative to the checkpoint. What Spark has stored is absolute, and of
    * another folder if the checkpoint was moved, or is reached by a link.
    */
  private def inside(file: String): String =
    new Path(file).toUri.getPath.split('/').takeRight(5).mkString("/")
}

private object OperatorMetadata {

  /** Of an operator's file, relative to the checkpoint. */
  def pathOf(operator: OperatorStateMetadataV2, batch: Long): String =
    pathOf(operator.operatorInfo.operatorId, batch)

  def pathOf(operator: Long, batch: Long): String =
    OperatorStateMetadataV2.metadataFilePath(new Path(s"state/$operator"), batch).toString

  def encode(operator: OperatorStateMetadataV2): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    bytes.write(s"v${operator.version}\n".getBytes)
    val out = new FSDataOutputStream(bytes, null)
    OperatorStateMetadataUtils.serialize(out, operator)
    out.flush()
    bytes.toByteArray
  }
}
