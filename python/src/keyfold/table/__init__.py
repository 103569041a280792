"""State as tables: an operator's stores and state variables, looked up, scanned and compared."""
