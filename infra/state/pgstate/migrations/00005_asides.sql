-- +goose Up

-- Aside has the long values that a paused job waits for, and those that answer it: a job is written several times, they
-- change once. Gateways of the version before leave them as they are.

ALTER TABLE airlock.jobs ADD COLUMN aside bytea;

-- +goose StatementBegin
CREATE FUNCTION airlock.use_of(_tenant bytea, _subject bytea, _status text, _ended bigint, _doc bytea, _request bytea,
	_result bytea, _snapshot bytea, _aside bytea, _sign integer) RETURNS airlock.use LANGUAGE sql IMMUTABLE AS $$
	SELECT ROW(_tenant, _subject,
		CASE WHEN _ended IS NOT NULL THEN 'results' WHEN _status = 'queued' THEN 'queued' ELSE 'running' END,
		_sign, _sign * (512 + octet_length(_doc) + octet_length(_request) + coalesce(octet_length(_result), 0)
			+ coalesce(octet_length(_snapshot), 0) + coalesce(octet_length(_aside), 0)))::airlock.use
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION airlock.count_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	_uses airlock.use[];
BEGIN
	IF TG_OP <> 'INSERT' THEN
		_uses := ARRAY(SELECT airlock.use_of(tenant, subject, status, ended, doc, request, result, snapshot, aside, -1)
			FROM old_rows);
	END IF;
	IF TG_OP <> 'DELETE' THEN
		_uses := _uses || ARRAY(
			SELECT airlock.use_of(tenant, subject, status, ended, doc, request, result, snapshot, aside, 1) FROM new_rows);
	END IF;
	INSERT INTO airlock.usage AS u (tenant, kind, subject, slot, n, bytes)
	SELECT tenant, kind, '', pg_backend_pid() % 32, sum(n), sum(bytes) FROM unnest(_uses)
		GROUP BY tenant, kind HAVING sum(n) <> 0 OR sum(bytes) <> 0
	UNION ALL
	SELECT tenant, kind, subject, pg_backend_pid() % 32, sum(n), sum(bytes) FROM unnest(_uses) WHERE subject <> ''
		GROUP BY tenant, kind, subject HAVING sum(n) <> 0 OR sum(bytes) <> 0
	ORDER BY 1, 2, 3
	ON CONFLICT (tenant, kind, subject, slot) DO UPDATE SET n = u.n + excluded.n, bytes = u.bytes + excluded.bytes;
	RETURN NULL;
END $$;
-- +goose StatementEnd
DROP FUNCTION airlock.use_of(bytea, bytea, text, bigint, bytea, bytea, bytea, bytea, integer);

-- +goose Down
SELECT 1;
