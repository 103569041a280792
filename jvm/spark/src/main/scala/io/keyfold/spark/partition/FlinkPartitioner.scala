package io.keyfold.spark.partition

import io.keyfold.group.FlinkAssignment
import org.apache.spark.Partitioner

/** Partitions the keys of an RDD as Apache Flink does, by their Java `hashCode`: partition i has
  * the keys of the operator with index i. A null key goes to partition 0, as with Spark's own
  * partitioners.
  *
  * @param parallelism
  *   number of partitions, from 1 to the number of key groups
  * @throws java.lang.IllegalArgumentException
  *   if it is out of range
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
