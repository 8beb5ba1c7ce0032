"""Scripts that run inside a peer's environment, with that peer and the standard library alone."""
