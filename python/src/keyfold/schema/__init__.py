"""Spark's data types and the schemas of state, as Spark keeps them in a checkpoint."""
