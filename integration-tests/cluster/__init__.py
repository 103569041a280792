"""Queries on executors, and what may happen to them."""
