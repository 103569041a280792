// Keyfold's JVM side. core knows neither Spark nor Hadoop: its class path enforces the boundary.

val line = SparkLine.selected

ThisBuild / organization := "io.keyfold"
ThisBuild / version := IO.read((ThisBuild / baseDirectory).value / "VERSION").trim
ThisBuild / scalaVersion := line.scala
ThisBuild / autoScalaLibrary := true

// Shipped by Spark itself at these versions, so "provided" in the jar.
val sparkShipped = Seq(
  "com.github.luben" % "zstd-jni" % "1.5.7-7" % Provided,
  "at.yawk.lz4" % "lz4-java" % "1.11.0" % Provided,
  "org.slf4j" % "slf4j-api" % "2.0.17" % Provided
)

val testing = Seq(
  "org.scalatest" %% "scalatest" % "3.2.19" % Test,
  "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test,
  "com.lihaoyi" %% "ujson" % "4.1.0" % Test
)

// What Spark's own launcher opens to itself on JDK 17.
val sparkJavaOptions = Seq(
  "java.base/java.lang",
  "java.base/java.lang.invoke",
  "java.base/java.lang.reflect",
  "java.base/java.io",
  "java.base/java.net",
  "java.base/java.nio",
  "java.base/java.util",
  "java.base/java.util.concurrent",
  "java.base/java.util.concurrent.atomic",
  "java.base/jdk.internal.ref",
  "java.base/sun.nio.ch",
  "java.base/sun.nio.cs",
  "java.base/sun.security.action",
  "java.base/sun.util.calendar"
).map(module => s"--add-opens=$module=ALL-UNNAMED")

lazy val bundle = taskKey[File]("Puts the jar that users take where the Python wheel picks it up")

lazy val shared = Seq(
  scalacOptions ++= Seq(
    "-release",
    "17",
    "-deprecation",
    "-feature",
    "-unchecked",
    "-Xlint:_,-byname-implicit",
    "-Wunused",
    "-Wdead-code",
    "-Wvalue-discard",
    "-Werror"
  ),
  javacOptions ++= Seq("--release", "17", "-Xlint:all", "-Werror"),
  Test / fork := true,
  Test / parallelExecution := false,
  Test / testForkedParallel := false,
  Test / baseDirectory := (ThisBuild / baseDirectory).value,
  Test / javaOptions ++= sparkJavaOptions ++ Seq(
    "-Xmx2g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1"
  )
)

lazy val core = (project in file("jvm/core"))
  .settings(
    shared,
    name := "keyfold-core",
    libraryDependencies ++= sparkShipped ++ testing,
    // Every access off the heap is checked: a wrong one is a failed test, not a dead JVM.
    Test / javaOptions += "-Dkeyfold.mem.checks=true"
  )

lazy val spark = (project in file("jvm/spark"))
  .dependsOn(core % "compile->compile;test->test")
  .settings(
    shared,
    name := s"keyfold-spark_${line.name}",
    Compile / unmanagedSourceDirectories ++=
      line.shims.map(shim => (Compile / sourceDirectory).value / shim),
    Compile / resourceGenerators += Def.task {
      val version = (Compile / resourceManaged).value / "io" / "keyfold" / "VERSION"
      IO.copyFile((ThisBuild / baseDirectory).value / "VERSION", version)
      Seq(version)
    }.taskValue,
    libraryDependencies ++= testing ++ Seq(
      "org.apache.spark" %% "spark-sql" % line.spark % Provided
    ),
    // One jar for users: core has no dependency that Spark lacks, so nothing needs shading.
    Compile / packageBin / mappings ++= (core / Compile / packageBin / mappings).value,
    bundle := {
      val jars = (ThisBuild / baseDirectory).value / "python" / "src" / "keyfold" / "jars"
      val jar = jars / s"keyfold-spark_${line.name}_${scalaBinaryVersion.value}.jar"
      IO.copyFile((Compile / packageBin).value, jar)
      jar
    }
  )

lazy val keyfold = (project in file("."))
  .aggregate(core, spark)
  .settings(publish / skip := true)
