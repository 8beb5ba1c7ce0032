"""Pages for people, made on the server: look into what the agents know, and correct it."""
