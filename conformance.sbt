// Spark's own state tests, run against Keyfold. Not part of the root aggregate: `sbt test` must not
// download or run them. How it works: jvm/conformance/README.md.

val sparkVersion = SparkLine.selected.spark
val parquetVersion = "1.17.0" // of Spark 4.2.0

// Spark publishes its compiled tests beside each module, but not what those tests depend on.
val sparkTestJars = Seq("sql", "catalyst", "core", "sql-api", "common-utils", "tags")
  .map(module => "org.apache.spark" %% s"spark-$module" % sparkVersion % Test classifier "tests")

val sparkTestLibraries = Seq(
  "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test,
  "org.scalatestplus" %% "mockito-5-18" % "3.2.19.0" % Test,
  "org.mockito" % "mockito-core" % "5.23.0" % Test,
  "org.apache.parquet" % "parquet-column" % parquetVersion % Test classifier "tests",
  "org.apache.parquet" % "parquet-common" % parquetVersion % Test classifier "tests",
  "org.apache.parquet" % "parquet-hadoop" % parquetVersion % Test classifier "tests"
)

lazy val unpackTestResources =
  taskKey[File]("Unpacks the resources of Spark's test jars: suites look them up as files")

lazy val prepare =
  taskKey[File]("Compiles the runner and writes the java argument file that starts it")

lazy val conformance = (project in file("jvm/conformance"))
  .dependsOn(LocalProject("spark"))
  .settings(
    name := "keyfold-conformance",
    publish / skip := true,
    scalacOptions := (LocalProject("spark") / scalacOptions).value,
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % sparkVersion,
      "org.scalatest" %% "scalatest" % "3.2.19"
    ) ++ sparkTestJars ++ sparkTestLibraries,
    Test / fork := true,
    // Spark's suites run in a JVM each, by the runner; sbt tests the runner.
    Test / testOptions += Tests.Filter(_.endsWith(".RunnerSuite")),
    unpackTestResources := {
      val resources = target.value / s"spark-$sparkVersion-test-resources"
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
      val argumentFile = target.value / "java.args"
      val classPath = unpackTestResources.value +: (Test / fullClasspath).value.files
      // Results hold for exactly this code; jars are Spark's and have their version in the name.
      val tested = (LocalProject("spark") / Runtime / fullClasspath).value.files
        .filter(_.isDirectory)
      def joined(files: Seq[File]) = files.mkString(java.io.File.pathSeparator)
      val arguments = Seq(
        "-cp",
        joined(classPath),
        s"-Dkeyfold.conformance.tested=${joined(tested)}",
        s"-Dkeyfold.conformance.suites=${joined((Test / products).value)}",
        s"-Dkeyfold.conformance.version=${version.value}",
        s"-Dkeyfold.conformance.java.args=$argumentFile",
        s"-Dkeyfold.conformance.spark.version=$sparkVersion"
      ) ++ (LocalProject("spark") / Test / javaOptions).value.filter(_.startsWith("--add-opens"))
      IO.writeLines(argumentFile, arguments.map(argument => "\"" + argument + "\""))
      argumentFile
    }
  )
