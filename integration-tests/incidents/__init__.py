"""Random incidents of stopped queries, ended by what the messages advise."""
