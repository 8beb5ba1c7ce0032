"""Who may do what: pure functions from a caller to what it may read and write."""
