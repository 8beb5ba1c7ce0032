"""What Mycel asks outside models for: one module per vendor or runtime, loaded when first used."""
