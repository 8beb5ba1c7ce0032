"""A team's memory as a mounted file system: the vault's notes, without a folder of their own."""
