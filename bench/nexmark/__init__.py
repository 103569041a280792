"""Nexmark for Spark Structured Streaming: `python -m bench.nexmark`."""
