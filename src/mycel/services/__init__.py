"""The only door: each use case authorises its caller and then runs one transaction or one read."""
