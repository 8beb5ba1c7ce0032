"""Text that gives orders to the AI reading it, told from text that tells engineers how to work."""
