// Races at the level of the memory model, jvm/jcstress/README.md. Not part of the root aggregate:
// `make jcstress` runs it, in JVMs of its own.

lazy val prepare =
  taskKey[File]("Compiles the tests and writes the java argument file that starts them")

lazy val jcstress = (project in file("jvm/jcstress"))
  .dependsOn(LocalProject("core") % "compile->test")
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
      val argumentFile = target.value / "java.args"
      // With what Spark provides to core.
      val files =
        (Compile / fullClasspath).value.files ++ (LocalProject(
          "core"
        ) / Test / fullClasspath).value.files
      val classPath = files.distinct.mkString(java.io.File.pathSeparator)
      IO.writeLines(argumentFile, Seq("-cp", classPath).map(argument => "\"" + argument + "\""))
      argumentFile
    }
  )
