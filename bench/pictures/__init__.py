"""Pictures of what the pages of figures say: `python -m bench.pictures`."""
