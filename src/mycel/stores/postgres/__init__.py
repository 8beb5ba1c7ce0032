"""A workspace on Postgres: any number of processes on any number of machines share one database."""
