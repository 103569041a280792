"""Random lives of queries: stopped, killed, with faulty files, rescaled, rolled back, copied."""
