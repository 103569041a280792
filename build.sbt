// Keyfold's JVM side. core knows neither Spark nor Hadoop: its class path enforces the boundary.

val line = SparkLine.selected

ThisBuild / organization := "io.keyfold"
ThisBuild / version := IO.read((ThisBuild / baseDirectory).value / "VERSION").trim
ThisBuild / scalaVersion := line.scala
ThisBuild / autoScalaLibrary := true

// Shipped by Spark itself at these versions, so "provided" in the jar.
def shippedBy(line: SparkLine) = line.shipped.map(_ % Provided)

val testing = Seq(
  "org.scalatest" %% "scalatest" % "3.2.19" % Test,
  "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test,
  "com.lihaoyi" %% "ujson" % "4.1.0" % Test
)

// Hadoop's client for S3 as Spark's Hadoop has it, with the modules of Amazon's SDK that it uses
// instead of the bundle of all (600 MB). What else they need comes with Spark.
val s3Client = (Seq("org.apache.hadoop" % "hadoop-aws" % line.hadoop % Test) ++
  line.s3Accelerator.map { version =>
    "software.amazon.s3.analyticsaccelerator" % "analyticsaccelerator-s3" % version % Test
  }).map(_.intransitive()) ++
  Seq("s3", "s3-transfer-manager", "sts", "apache-client").map { module =>
    ("software.amazon.awssdk" % module % line.awsSdk % Test).excludeAll(
      ExclusionRule("io.netty"),
      ExclusionRule("org.slf4j"),
      ExclusionRule("com.fasterxml.jackson.core")
    )
  }

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

lazy val prepare =
  taskKey[File]("Compiles a program and writes the java argument file that starts it")

lazy val bundle = taskKey[File]("Puts the jar that users take where the Python wheel picks it up")

lazy val pysparkJars = taskKey[Classpath]("Spark's jars, for a line without artifacts of its own")

ThisBuild / pysparkJars := {
  if (line.isPublished) Nil
  else Pyspark.jars(line.spark, (ThisBuild / baseDirectory).value).map(Attributed.blank)
}

// The default line has sbt's own folder, which the Makefile and other tools know. Others have one
// each, so that a change of the line compiles nothing again.
lazy val targetOfLine =
  target := (if (line == SparkLine.default) target.value else target.value / s"spark-${line.name}")

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

// Two modules' tests at once, each in a JVM of its own: those of queries mostly wait.
Global / concurrentRestrictions := Seq(
  Tags.limitAll(math.max(2, java.lang.Runtime.getRuntime.availableProcessors)),
  Tags.limit(Tags.ForkedTestGroup, 2),
  Tags.exclusiveGroup(Tags.Clean)
)

// Compiled once for all lines: by the oldest Scala of any, which runs on the later ones.
lazy val core = (project in file("jvm/core"))
  .settings(
    shared,
    name := "keyfold-core",
    scalaVersion := SparkLine.oldest.scala,
    libraryDependencies ++= shippedBy(SparkLine.default) ++ testing,
    // Every access off the heap is checked: a wrong one is a failed test, not a dead JVM.
    Test / javaOptions += "-Dkeyfold.mem.checks=true"
  )

lazy val spark = (project in file("jvm/spark"))
  .dependsOn(core % "compile->compile;test->test")
  .settings(
    shared,
    targetOfLine,
    name := s"keyfold-spark_${line.name}",
    // Not the normalized one: that has no dots.
    moduleName := name.value,
    Compile / unmanagedSourceDirectories ++=
      line.shims.map(shim => (Compile / sourceDirectory).value / shim),
    Test / unmanagedSourceDirectories ++=
      line.shims.map(shim => (Test / sourceDirectory).value / shim),
    Compile / resourceGenerators += Def.task {
      val folder = (Compile / resourceManaged).value / "io" / "keyfold"
      for ((name, text) <- Seq("VERSION" -> (ThisBuild / version).value, "SPARK_LINE" -> line.name))
        yield {
          IO.write(folder / name, s"$text\n")
          folder / name
        }
    }.taskValue,
    libraryDependencies ++= shippedBy(line) ++ testing ++ s3Client ++ line.sql.map(_ % Provided),
    Compile / unmanagedJars ++= pysparkJars.value,
    Publishing.settings,
    // One jar for users: core has no dependency that Spark lacks, so nothing needs shading.
    Compile / packageBin / mappings ++= (core / Compile / packageBin / mappings).value,
    Compile / packageSrc / mappings ++= (core / Compile / packageSrc / mappings).value,
    Compile / doc / sources ++= (core / Compile / doc / sources).value,
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

// What follows is not part of the root aggregate: `sbt test` must neither download nor run it.

// What runs tests and benchmarks in processes of their own.
lazy val testkit = (project in file("jvm/testkit"))
  .settings(
    targetOfLine,
    name := "keyfold-testkit",
    publish / skip := true,
    scalacOptions := (spark / scalacOptions).value,
    libraryDependencies ++= line.sql.map(_ % Provided).toSeq,
    Compile / unmanagedJars ++= pysparkJars.value
  )

// All providers side by side: jvm/bench/README.md. Classes of tests besides, which stores of the
// benchmarks need too.
lazy val bench = (project in file("jvm/bench"))
  .dependsOn(spark % "compile->compile;compile->test", testkit)
  .settings(
    name := "keyfold-bench",
    publish / skip := true,
    scalacOptions := (spark / scalacOptions).value,
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % line.spark,
      "com.lihaoyi" %% "ujson" % "4.1.0"
    ),
    prepare := {
      val classes = (Compile / classDirectory).value
      // Results hold for exactly this code; what runs cells and writes the page is not in it.
      val measured = (spark / Runtime / fullClasspath).value.files
        .filter(_.isDirectory) :+ classes / "io" / "keyfold" / "bench" / "cell"
      val file = target.value / "java.args"
      JavaArgs.write(
        file,
        (Compile / fullClasspath).value.files,
        Seq(
          s"-Dkeyfold.bench.measured=${JavaArgs.path(measured)}",
          s"-Dkeyfold.bench.java.args=$file",
          s"-Dkeyfold.bench.spark.version=${line.spark}"
        ) ++ sparkJavaOptions
      )
    }
  )

// Spark publishes its compiled tests beside each module, but not what those tests depend on. What a
// module depends on comes with Spark itself, which may be of another release.
val sparkTestJars = Seq("sql", "catalyst", "core", "sql-api", "common-utils", "tags").map {
  module =>
    ("org.apache.spark" %% s"spark-$module" % line.sparkTests % Test classifier "tests")
      .intransitive()
}

val sparkTestLibraries = Seq(
  "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test,
  "org.scalatestplus" %% "mockito-5-18" % "3.2.19.0" % Test,
  "org.mockito" % "mockito-core" % "5.23.0" % Test,
  ("org.apache.parquet" % "parquet-column" % line.parquet % Test classifier "tests").intransitive(),
  ("org.apache.parquet" % "parquet-common" % line.parquet % Test classifier "tests").intransitive(),
  ("org.apache.parquet" % "parquet-hadoop" % line.parquet % Test classifier "tests").intransitive()
)

lazy val unpackTestResources =
  taskKey[File]("Unpacks the resources of Spark's test jars: suites look them up as files")

// Spark's own state tests, run against Keyfold: jvm/conformance/README.md.
lazy val conformance = (project in file("jvm/conformance"))
  .dependsOn(spark, testkit)
  .settings(
    targetOfLine,
    name := "keyfold-conformance",
    publish / skip := true,
    scalacOptions := (spark / scalacOptions).value,
    libraryDependencies += "org.scalatest" %% "scalatest" % "3.2.19",
    libraryDependencies ++= line.sql.toSeq ++ sparkTestJars ++ sparkTestLibraries,
    // Of Spark's own libraries, some want a newer one than Spark itself.
    dependencyOverrides += "org.scala-lang" % "scala-library" % line.scala,
    Compile / unmanagedJars ++= pysparkJars.value,
    Test / unmanagedSourceDirectories ++=
      line.shims.map(shim => (Test / sourceDirectory).value / shim),
    Test / fork := true,
    // Spark's suites run in a JVM each, by the runner; sbt tests the runner.
    Test / testOptions += Tests.Filter(_.endsWith(".RunnerSuite")),
    unpackTestResources := {
      val resources = target.value / s"spark-${line.sparkTests}-test-resources"
      val jars = (Test / update).value
        .matching(artifactFilter(classifier = "tests"))
        .filter(jar => Seq("spark-core_", "spark-sql_").exists(jar.getName.startsWith))
      if (!resources.exists) {
        // A half unpacked folder must not be taken for a whole one.
        val unfinished = target.value / "unpacking"
        IO.delete(unfinished)
        jars.foreach(IO.unzip(_, unfinished, (entry: String) => !entry.endsWith(".class")))
        IO.move(unfinished, resources)
      }
      resources
    },
    prepare := {
      // Results hold for exactly this code; jars are Spark's and have their version in the name.
      val tested = (spark / Runtime / fullClasspath).value.files.filter(_.isDirectory)
      val file = target.value / "java.args"
      JavaArgs.write(
        file,
        unpackTestResources.value +: (Test / fullClasspath).value.files,
        Seq(
          s"-Dkeyfold.conformance.tested=${JavaArgs.path(tested)}",
          s"-Dkeyfold.conformance.suites=${JavaArgs.path((Test / products).value)}",
          s"-Dkeyfold.conformance.version=${version.value}",
          s"-Dkeyfold.conformance.java.args=$file",
          s"-Dkeyfold.conformance.spark.line=${line.name}",
          s"-Dkeyfold.conformance.spark.version=${line.spark}"
        ) ++ sparkJavaOptions
      )
    }
  )

// Races at the level of the memory model, in JVMs of their own: jvm/jcstress/README.md.
lazy val jcstress = (project in file("jvm/jcstress"))
  .dependsOn(core % "compile->test")
  .settings(
    name := "keyfold-jcstress",
    publish / skip := true,
    crossPaths := false,
    // The library brings the annotation processor that writes the harness.
    libraryDependencies += "org.openjdk.jcstress" % "jcstress-core" % "0.16",
    javacOptions := Seq("--release", "17"),
    // The processor lists the tests of one compilation: each must be of all.
    incOptions := incOptions.value.withRecompileAllFraction(0),
    prepare := {
      // With what Spark provides to core.
      val files =
        (Compile / fullClasspath).value.files ++ (core / Test / fullClasspath).value.files
      JavaArgs.write(target.value / "java.args", files.distinct, Nil)
    }
  )

// What a Spark needs for S3A and does not bring itself.
val S3A = config("s3a")

// Servers that tests read from, keep checkpoints on and run on, and what Spark needs to reach S3.
lazy val servers = (project in file("jvm/servers"))
  .configs(S3A)
  .settings(
    name := "keyfold-servers",
    publish / skip := true,
    scalacOptions := (spark / scalacOptions).value,
    ivyConfigurations += S3A,
    libraryDependencies ++= s3Client.map(_.withConfigurations(Some(S3A.name))) ++ Seq(
      "org.apache.hadoop" % "hadoop-client-minicluster" % line.hadoop,
      "org.apache.kafka" %% "kafka" % "4.1.1",
      // What YARN wants and the shaded jar lacks.
      "org.apache.logging.log4j" % "log4j-1.2-api" % "2.24.3",
      "org.bouncycastle" % "bcpkix-jdk18on" % "1.80",
      "org.slf4j" % "slf4j-simple" % "2.0.17"
    ),
    prepare := {
      val s3a = update.value.select(configurationFilter(S3A.name))
      IO.write(target.value / "s3a.classpath", JavaArgs.path(s3a))
      // Tests that fail show the end of what a server has said.
      val logged = Seq("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
      JavaArgs.write(target.value / "java.args", (Compile / fullClasspath).value.files, logged)
    }
  )
