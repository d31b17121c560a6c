-- +goose Up

-- One statement changes many jobs. Its trigger counts once for each tenant and subject, and always in the same order,
-- so that two statements never wait for each other.

CREATE TYPE airlock.use AS (tenant bytea, subject bytea, kind text, n bigint, bytes bigint);

-- +goose StatementBegin
CREATE FUNCTION airlock.use_of(_tenant bytea, _subject bytea, _status text, _ended bigint, _doc bytea, _request bytea,
	_result bytea, _sign integer) RETURNS airlock.use LANGUAGE sql IMMUTABLE AS $$
	SELECT ROW(_tenant, _subject,
		CASE WHEN _ended IS NOT NULL THEN 'results' WHEN _status = 'queued' THEN 'queued' ELSE 'running' END,
		_sign, _sign * (512 + octet_length(_doc) + octet_length(_request) + coalesce(octet_length(_result), 0)))::airlock.use
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION airlock.count_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	_uses airlock.use[];
BEGIN
	IF TG_OP <> 'INSERT' THEN
		_uses := ARRAY(SELECT airlock.use_of(tenant, subject, status, ended, doc, request, result, -1) FROM old_rows);
	END IF;
	IF TG_OP <> 'DELETE' THEN
		_uses := _uses ||
			ARRAY(SELECT airlock.use_of(tenant, subject, status, ended, doc, request, result, 1) FROM new_rows);
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

DROP TRIGGER counted ON airlock.jobs;
CREATE TRIGGER counted_new AFTER INSERT ON airlock.jobs REFERENCING NEW TABLE AS new_rows
	FOR EACH STATEMENT EXECUTE FUNCTION airlock.count_jobs();
CREATE TRIGGER counted_changed AFTER UPDATE ON airlock.jobs REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
	FOR EACH STATEMENT EXECUTE FUNCTION airlock.count_jobs();
CREATE TRIGGER counted_deleted AFTER DELETE ON airlock.jobs REFERENCING OLD TABLE AS old_rows
	FOR EACH STATEMENT EXECUTE FUNCTION airlock.count_jobs();
DROP FUNCTION airlock.count_job();

-- Gateways of the version before call airlock.submit and airlock.claim, so these stay for now.

-- Claim_some claims as many jobs as there are claims, or fewer: in turn of the tenants in order after the given one
-- that are not passed over, of each the highest priority and then the oldest. It skips jobs that another transaction
-- is claiming. Its cost grows with the number of tenants, and not with their jobs. A time more than an hour ahead was
-- set by a clock that was set back since.
-- +goose StatementBegin
CREATE FUNCTION airlock.claim_some(_owner text, _claims text[], _now bigint, _start_before bigint, _after bytea,
	_over bytea[]) RETURNS SETOF airlock.jobs LANGUAGE plpgsql AS $$
DECLARE
	_tenant bytea := _after; _last bytea := _after; _wrapped boolean := false; _seq bigint; _picked bigint[] := '{}';
BEGIN
	WHILE cardinality(_picked) < cardinality(_claims) LOOP
		SELECT j.tenant INTO _tenant FROM airlock.jobs j WHERE j.status = 'queued' AND j.tenant > _tenant
			ORDER BY j.tenant LIMIT 1;
		IF NOT FOUND THEN
			EXIT WHEN _wrapped;
			_wrapped := true;
			SELECT j.tenant INTO _tenant FROM airlock.jobs j WHERE j.status = 'queued' ORDER BY j.tenant LIMIT 1;
			EXIT WHEN NOT FOUND;
		END IF;
		EXIT WHEN _wrapped AND _tenant > _last; -- all tenants since the last job have none
		CONTINUE WHEN _tenant = ANY (_over);
		SELECT j.seq INTO _seq FROM airlock.jobs j WHERE j.status = 'queued' AND j.tenant = _tenant
			AND (j.not_before <= _now OR j.not_before > _now + 3600000) AND j.seq <> ALL (_picked)
			ORDER BY j.priority DESC, j.seq LIMIT 1 FOR UPDATE SKIP LOCKED;
		IF FOUND THEN
			_picked := _picked || _seq;
			_last := _tenant;
			_wrapped := false;
		END IF;
	END LOOP;
	IF cardinality(_picked) > 0 THEN
		RETURN QUERY WITH claimed AS (
			UPDATE airlock.jobs j SET status = 'running', owner = _owner, claim = p.claim, change = p.claim,
				claimed = clock_timestamp(), started = _now, start_before = _start_before
			FROM unnest(_picked, _claims) AS p (seq, claim) WHERE j.seq = p.seq RETURNING j.*)
			SELECT * FROM claimed ORDER BY array_position(_picked, seq);
	END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 1;
