"""What the state of an operator's subtasks costs: `python -m bench.subtasks`."""
