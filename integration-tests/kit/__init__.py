"""Helpers for more than one folder of tests; those of a single folder are in that folder.

Imports: keyfold, and none of the tests.
"""
