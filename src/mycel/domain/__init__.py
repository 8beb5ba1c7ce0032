"""The nouns of Mycel as frozen values, and the rules that need nothing but those values."""
