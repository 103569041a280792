"""An S3 server for people, behind the proxy that holds its requests back; Control-C ends it.

Usage: python -m kit.servers PORT FOLDER DELAY_MS
"""

import shlex
import sys
from contextlib import closing, suppress
from pathlib import Path

from kit.servers import s3
from kit.servers.connection import STEERING
from kit.servers.proxy import Proxy

port, folder, delay_ms = int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
with (
    closing(s3.S3Server(folder)) as server,
    closing(Proxy(server.port, port=port)) as proxy,
    suppress(KeyboardInterrupt),
):
    proxy.delay_ms = delay_ms
    conf = [shlex.quote(f"{name}={value}") for name, value in s3.spark_conf(port).items()]
    print("Settings for spark-submit and pyspark:\n")
    print(" \\\n".join(f"  --conf {it}" for it in conf))
    print("\nA checkpoint, as Spark's option checkpointLocation, and as keyfold's argument:\n")
    print(f"  {s3.spark_url('query')}\n  {shlex.quote(s3.keyfold_uri('query', port))}")
    print(f"\nObjects are files in {server.bucket}. Requests since the last time it was asked:\n")
    print(f"  curl {s3.endpoint(port)}{STEERING}\n", flush=True)
    server.wait()
