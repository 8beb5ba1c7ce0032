"""The markdown vault: a folder of notes kept in two-way agreement with what one member sees of its team."""
