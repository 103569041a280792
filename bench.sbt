// All providers side by side, jvm/bench/README.md. Not part of the root aggregate: `sbt test` must not
// run it, and what it measures stands in jars and classes of its own.

val sparkVersion = SparkLine.selected.spark

lazy val prepare =
  taskKey[File]("Compiles the benchmarks and writes the java argument file that starts them")

lazy val bench = (project in file("jvm/bench"))
  .dependsOn(LocalProject("spark"))
  .settings(
    name := "keyfold-bench",
    publish / skip := true,
    scalacOptions := (LocalProject("spark") / scalacOptions).value,
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % sparkVersion,
      "com.lihaoyi" %% "ujson" % "4.1.0"
    ),
    // Needed by projects that nobody else depends on: not worth a project of their own.
    Compile / unmanagedSources ++= {
      val jvm = (ThisBuild / baseDirectory).value / "jvm"
      val conformance = "scala/io/keyfold/conformance"
      Seq(
        jvm / "conformance/src/main" / conformance / "RunnerWatch.scala",
        jvm / "conformance/src/main" / conformance / "TestedCode.scala",
        jvm / "conformance/src/test" / conformance / "ShelllessLocalFs.scala",
        jvm / "core/src/test/scala/io/keyfold/testkit/ForwardingBlobStore.scala",
        jvm / "core/src/test/scala/io/keyfold/testkit/StoreReader.scala",
        jvm / "spark/src/test/scala/org/apache/spark/sql/keyfold/StateStores.scala"
      )
    },
    prepare := {
      val argumentFile = target.value / "java.args"
      val classes = (Compile / classDirectory).value
      val classPath = (Compile / fullClasspath).value.files
      // Results hold for exactly this code; what runs cells and writes the page is not in it.
      val measured = (LocalProject("spark") / Runtime / fullClasspath).value.files
        .filter(_.isDirectory) :+ classes / "io" / "keyfold" / "bench" / "cell"
      def joined(files: Seq[File]) = files.mkString(java.io.File.pathSeparator)
      val arguments = Seq(
        "-cp",
        joined(classPath),
        s"-Dkeyfold.bench.measured=${joined(measured)}",
        s"-Dkeyfold.bench.java.args=$argumentFile",
        s"-Dkeyfold.bench.spark.version=$sparkVersion"
      ) ++ (LocalProject("spark") / Test / javaOptions).value.filter(_.startsWith("--add-opens"))
      IO.writeLines(argumentFile, arguments.map(argument => "\"" + argument + "\""))
      argumentFile
    }
  )
