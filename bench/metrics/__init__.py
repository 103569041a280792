"""What the metrics of state cost: `python -m bench.metrics`."""
