#!/bin/sh
# Run once by the database's image when its folder is empty: the three roles of docs/guides/postgres.md, and pgvector.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set owner_password="$MYCEL_OWNER_PASSWORD" --set login_password="$MYCEL_LOGIN_PASSWORD" <<'SQL'
CREATE EXTENSION vector;
CREATE ROLE mycel_service NOLOGIN;
CREATE ROLE mycel_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE mycel_login LOGIN PASSWORD :'login_password' IN ROLE mycel_service;
SELECT format('ALTER DATABASE %I OWNER TO mycel_owner', current_database()) \gexec
SQL
