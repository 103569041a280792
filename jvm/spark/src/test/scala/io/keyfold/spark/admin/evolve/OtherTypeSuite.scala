package io.keyfold.spark.admin.evolve

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.DataType
import org.scalatest.funsuite.AnyFunSuite

/** Which values can be brought to another type. */
class OtherTypeSuite extends AnyFunSuite {
  private def of(from: String, to: String) =
    OtherType.of(col("it"), DataType.fromDDL(from), DataType.fromDDL(to), "it").left.map(_._1)

  test("types that an INSERT takes, with the fields of structs by their names") {
    for {
      (from, to) <- Seq(
        "int" -> "bigint",
        "array<int>" -> "array<bigint>",
        "array<struct<a: int, b: string>>" -> "array<struct<a: bigint, b: string>>",
        "struct<a: int, b: string>" -> "struct<b: string, c: int, a: bigint>"
      )
    } assert(of(from, to).isRight, s"$from to $to")
  }

  test("what would be another value is not taken") {
    for {
      (from, to, path) <- Seq(
        ("string", "int", "it"),
        ("array<struct<a: int, b: int>>", "array<struct<b: int, a: int>>", "it"),
        ("map<string, struct<a: int>>", "map<string, struct<b: int>>", "it"),
        ("struct<a: int>", "struct<b: int>", "it"),
        ("struct<a: int, b: string>", "struct<a: int, c: int not null>", "it.c"),
        ("struct<a: int, b: struct<c: string>>", "struct<a: int, b: struct<c: int>>", "it.b.c")
      )
    } assert(of(from, to) == Left(path), s"$from to $to")
  }
}
