"""Talk of our own with its labels inside: what the small model that reads talk is taught with."""
