"""Random lives of queries: stopped, killed, given faulty files, rescaled, rolled back, copied."""
