"""Declarative pipelines of Spark, as their users run them."""
