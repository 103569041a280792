"""Servers that tests keep checkpoints on, and a proxy that makes one of them a bad one.

Imports: keyfold, and of the kit places.
"""
