"""A model of what a query takes on a cluster larger than the machine of the benchmarks."""
