"""A count that outgrows its containers on a real YARN."""
