package org.apache.spark.sql.keyfold

import scala.xml.Node

import jakarta.servlet.http.HttpServletRequest
import org.apache.spark.SparkContext
import org.apache.spark.ui.{SparkUI, SparkUITab, UIUtils, WebUIPage}

/** A tab of Spark's UI with one page, made anew for each request. */
object UiTab {

  /** Does nothing if the UI is switched off.
    *
    * @param prefix
    *   path of the page
    */
  def add(context: SparkContext, prefix: String, title: String, content: () => Seq[Node]): Unit =
    context.ui.foreach(ui => ui.attachTab(new Tab(ui, prefix, title, content)))

  private final class Tab(ui: SparkUI, prefix: String, title: String, content: () => Seq[Node])
      extends SparkUITab(ui, prefix) {
    override val name: String = title

    attachPage(new WebUIPage("") {
      override def render(request: HttpServletRequest): Seq[Node] =
        UIUtils.headerSparkPage(request, title, content(), Tab.this)
    })
  }
}
