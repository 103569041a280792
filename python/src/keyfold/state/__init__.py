"""A version of one partition's store, put together from its files."""
