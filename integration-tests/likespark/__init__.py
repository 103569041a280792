"""Random queries that run on Spark's own providers of state and on Keyfold, and are compared."""
