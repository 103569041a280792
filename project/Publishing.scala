import sbt._
import sbt.Keys._

import scala.xml.transform.{RewriteRule, RuleTransformer}
import scala.xml.{Elem, Node, NodeSeq}

/** What Maven Central asks for, and where `sbt publish` puts it: a folder, out of which
  * build/release.py makes the bundle to upload.
  */
object Publishing {
  private val home = url("https://keyfold.io")

  val settings: Seq[Setting[_]] = Seq(
    // Of no commit's time: a jar is the same as long as its sources are, whatever `make jars` has
    // built before and whatever the environment says.
    packageTimestamp := Package.fixed2010Timestamp,
    Compile / packageBin / mappings += licence.value,
    Compile / packageSrc / mappings += licence.value,
    description := "Keyfold, a state store provider for Apache Spark Structured Streaming",
    homepage := Some(home),
    licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0.txt")),
    developers := List(Developer("keyfold", "The Keyfold developers", "", home)),
    scmInfo := Some(ScmInfo(home, "scm:git:https://keyfold.io/keyfold.git")),
    publishMavenStyle := true,
    pomIncludeRepository := (_ => false),
    publishTo := Some(MavenCache("dist", (ThisBuild / baseDirectory).value / "dist" / "maven")),
    pomPostProcess := (new RuleTransformer(Needless).transform(_: Node).head),
    // Which Spark it is for. A line that is not published has no other way to say it: a dependency
    // on artifacts of Spark's that do not exist would resolve nowhere.
    pomExtra := <properties><spark.version>{SparkLine.selected.spark}</spark.version></properties>,
    // A link to a class of Spark's is none here.
    Compile / doc / scalacOptions := Seq(
      "-no-link-warnings",
      "-nowarn",
      "-doc-title",
      name.value,
      "-doc-version",
      version.value
    )
  )

  private def licence: Def.Initialize[(File, String)] =
    Def.setting((ThisBuild / baseDirectory).value / "LICENSE" -> "META-INF/LICENSE")

  /** Core is in the jar. What tests need is of no use to others, and so is Scala's library, which
    * Spark brings.
    */
  private object Needless extends RewriteRule {
    override def transform(node: Node): NodeSeq = node match {
      case it: Elem if it.label == "dependency" && (it \ "scope").text != "provided" =>
        NodeSeq.Empty
      case it: Elem if it.label == "email" && it.text.isEmpty => NodeSeq.Empty
      case other                                              => other
    }
  }
}
