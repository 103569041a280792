"""Keyfold on every line of Spark: installed from its wheel, upgraded from one to the next."""
