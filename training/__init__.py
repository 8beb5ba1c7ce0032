"""How the built-in embedding model was made, what judges its vectors, and the weights of extraction."""
