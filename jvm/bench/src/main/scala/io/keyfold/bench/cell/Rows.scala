package io.keyfold.bench.cell

import java.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Keys and values made ahead.
  *
  * @param ids
  *   which rows, in the order they are used
  */
final class Rows(shape: Shape, ids: Array[Int]) {
  val keys: Array[UnsafeRow] = ids.map(shape.key)
  val values: Array[UnsafeRow] = ids.map(_ => shape.emptyValue())

  /** Other values, for the next round. */
  def refresh(salt: Int): Unit = ids.indices.foreach(i => shape.write(values(i), ids(i), salt))
}

object Rows {
  private val Seed = 20260831L

  /** `count` of the rows 0 until `of`, each at most once, in an order that has nothing to do with
    * the one they were put in; the same order at every run.
    */
  def shuffled(of: Int, count: Int): Array[Int] = {
    val random = new Random(Seed)
    val ids = Array.range(0, of)
    (0 until math.min(count, of - 1)).foreach { i =>
      val j = i + random.nextInt(of - i)
      val id = ids(i)
      ids(i) = ids(j)
      ids(j) = id
    }
    ids.take(count)
  }
}
