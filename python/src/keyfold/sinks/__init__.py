"""Tables of Delta and Iceberg that a query writes to: which version has which batch.

Imports: errors, spark_log, storage, text.
"""
