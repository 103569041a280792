"""State that does not fit into memory, in a memory cgroup: `python -m bench.bigstate`."""
