package io.keyfold.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.StateStores
import org.scalatest.{BeforeAndAfterAll, BeforeAndAfterEach, Suite}

/** A session of this process, in which a task may fail twice; its state is Keyfold's. */
trait LocalSpark extends BeforeAndAfterAll with BeforeAndAfterEach { this: Suite =>
  protected var spark: SparkSession = _

  /** Of this suite's own. */
  protected def settings: Map[String, String] = Map.empty

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark = SparkSession
      .builder()
      .master("local[2,3]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "2")
      .config("spark.sql.codegen.wholeStage", "false")
      .config("spark.sql.adaptive.enabled", "false")
      // Or each session compiles the same classes again: a third of the time.
      .config("spark.sql.artifact.isolation.enabled", "false")
      .config("spark.sql.codegen.cache.maxEntries", "1000")
      // No test takes the power away: 6 to 9 % of the time on a fast disk.
      .config("spark.sql.streaming.stateStore.keyfold.files.forced", "false")
      .config(
        "spark.sql.streaming.stateStore.providerClass",
        classOf[KeyfoldStateStoreProvider].getName
      )
      .config(settings)
      .getOrCreate()
  }

  /** Maintenance that a test has started would go on with that test's interval. */
  override def afterEach(): Unit =
    try super.afterEach()
    finally StateStores.stop()

  override def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()
}
