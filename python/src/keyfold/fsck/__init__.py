"""Looks for damage in a checkpoint."""
