"""Tests of the demo that start no Spark."""
