"""An S3 server for people; Control-C ends it.

Usage: python -m kit.servers PORT FOLDER
"""

import shlex
import sys
from contextlib import closing, suppress
from pathlib import Path

from kit.servers import s3

port, folder = int(sys.argv[1]), Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
with closing(s3.S3Server(folder, port)) as server, suppress(KeyboardInterrupt):
    print("Settings for spark-submit and pyspark:\n")
    print(
        " \\\n".join(f"  --conf {shlex.quote(f'{k}={v}')}" for k, v in s3.spark_conf(port).items())
    )
    print("\nA checkpoint, as Spark's option checkpointLocation, and as keyfold's argument:\n")
    print(f"  {s3.spark_url('query')}\n  {shlex.quote(s3.keyfold_uri('query', port))}")
    print(f"\nObjects are files in {server.bucket}. Control-C ends the server.", flush=True)
    server.wait()
