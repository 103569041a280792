package io.keyfold.bench.cell

/** How often this JVM has stopped all its threads. Java's own beans do not count all the pauses of
  * G1: those of its concurrent cycle are missing in JDK 17.
  */
object Safepoints {

  /** HotSpot's bean, which has no public name. */
  private val bean = Class
    .forName("sun.management.ManagementFactoryHelper")
    .getMethod("getHotspotRuntimeMBean")
    .invoke(null)

  private val counter = {
    val method = Class.forName("sun.management.HotspotRuntimeMBean").getMethod("getSafepointCount")
    method.setAccessible(true)
    method
  }

  def count(): Long = counter.invoke(bean).asInstanceOf[java.lang.Long].longValue
}
