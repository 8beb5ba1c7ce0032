-- What SQLite has built in and the queries of both databases are written with.
CREATE FUNCTION instr(whole text, part text) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN strpos(whole, part);
CREATE FUNCTION min(one bigint, other bigint) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN one IS NULL OR other IS NULL THEN NULL ELSE least(one, other) END;
CREATE FUNCTION max(one bigint, other bigint) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN one IS NULL OR other IS NULL THEN NULL ELSE greatest(one, other) END;
CREATE AGGREGATE total(numeric) (sfunc = numeric_add, stype = numeric, initcond = '0', parallel = safe);
CREATE FUNCTION json_each(list text) RETURNS TABLE (value text)
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN json_array_elements_text(list::json);
CREATE FUNCTION strftime(format text, seconds bigint, base text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN to_char(
    timestamp 'epoch' + seconds * interval '1 second',
    replace(replace(replace(format, '%Y', 'YYYY'), '%m', 'MM'), '%d', 'DD')
  );

-- Vectors come as signed bytes; distances are measured on this.
CREATE FUNCTION direction_of(bytes bytea) RETURNS halfvec
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (
    SELECT array_agg((get_byte(bytes, place) + 128) % 256 - 128 ORDER BY place)::real[]::halfvec
    FROM generate_series(0, length(bytes) - 1) AS place
  );

-- Whose rows a transaction may see, said by `set_config('mycel.team', …, true)`.
CREATE FUNCTION current_team() RETURNS text
  LANGUAGE sql STABLE PARALLEL SAFE RETURN nullif(current_setting('mycel.team', true), '');
