"""Where memories are kept. One package per database, with the same file names in each."""
