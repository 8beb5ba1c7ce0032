"""The client of a service: the same methods as on local files, over HTTP."""
