"""Reads state files: names, footers, blocks and manifests.

Imports: errors, wire.
"""
