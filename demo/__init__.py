"""The demo: a year of real flights through Spark, killed half way, compared with a batch answer."""
