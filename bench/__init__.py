"""Looking inside a checkpoint, beside Spark's own state data source."""
