"""How the built-in embedding model was made: texts, teaching, export, and the fitting of what judges its vectors."""
