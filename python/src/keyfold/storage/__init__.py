"""Files of a checkpoint: on local disks, HDFS, object stores, and what fsspec knows.

Imports: errors, format.
"""
