"""SQLite through apsw: one file per team and a small one for the workspace."""
