"""Servers that tests keep checkpoints on or run on, and a proxy that makes one of them a bad one.

Imports: of the kit only places.
"""
