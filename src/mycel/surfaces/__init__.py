"""The ways in. Surfaces translate and decide nothing."""
