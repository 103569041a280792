package io.keyfold.spark.partition

import io.keyfold.group.FlinkAssignment
import org.apache.spark.Partitioner

/** Puts the keys of an RDD where Apache Flink would, by their Java `hashCode`: partition i has what
  * the operator with index i has. A null key goes to partition 0, as with Spark's own partitioners.
  *
  * @param parallelism
  *   number of partitions, 1 to that of key groups
  * @throws java.lang.IllegalArgumentException
  *   if it is not
  */
final class FlinkPartitioner(val assignment: FlinkAssignment, parallelism: Int)
    extends Partitioner {
  assignment.operatorOf(0, parallelism)

  override def numPartitions: Int = parallelism

  override def getPartition(key: Any): Int =
    if (key == null) 0
    else assignment.operatorOf(assignment.keyGroup(key.hashCode), parallelism)

  override def equals(other: Any): Boolean = other match {
    case that: FlinkPartitioner =>
      that.numPartitions == parallelism &&
      that.assignment.maxParallelism == assignment.maxParallelism
    case _ => false
  }

  override def hashCode: Int = 31 * assignment.maxParallelism + parallelism
}
