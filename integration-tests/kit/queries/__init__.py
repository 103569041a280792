"""Stateful queries of every kind, and the input that they are made for."""
