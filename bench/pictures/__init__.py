"""Pictures of what the pages of benchmarks say: `python -m bench.pictures`."""
