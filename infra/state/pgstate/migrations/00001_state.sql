-- +goose Up

-- Names that callers choose are bytes: they may hold what text refuses, and they sort as Go sorts them. Times in
-- milliseconds come from the gateways; a timestamptz is always the database's own clock.

CREATE TABLE airlock.processes (id text PRIMARY KEY, seen timestamptz NOT NULL);

CREATE TABLE airlock.functions (
	tenant bytea NOT NULL, name bytea NOT NULL, next bigint, change text NOT NULL, doc bytea NOT NULL,
	PRIMARY KEY (tenant, name)
);
CREATE INDEX functions_next ON airlock.functions (tenant, next) WHERE next IS NOT NULL;

CREATE TABLE airlock.versions (
	tenant bytea NOT NULL, name bytea NOT NULL, version integer NOT NULL, content bytea NOT NULL,
	PRIMARY KEY (tenant, name, version)
);

CREATE TABLE airlock.jobs (
	seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id bytea NOT NULL UNIQUE, tenant bytea NOT NULL,
	subject bytea NOT NULL, status text NOT NULL, priority smallint NOT NULL, not_before bigint NOT NULL,
	owner text, claim text, claimed timestamptz, started bigint NOT NULL DEFAULT 0, start_before bigint NOT NULL DEFAULT 0,
	cancel boolean NOT NULL DEFAULT false, callback bigint, caller text, ended bigint, change text NOT NULL,
	doc bytea NOT NULL, request bytea NOT NULL, result bytea
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX jobs_queued ON airlock.jobs (tenant, priority DESC, seq) WHERE status = 'queued';
CREATE INDEX jobs_running ON airlock.jobs (owner) WHERE status = 'running';
CREATE INDEX jobs_callback ON airlock.jobs (tenant, callback) WHERE callback IS NOT NULL;
CREATE INDEX jobs_ended ON airlock.jobs (tenant, ended) WHERE ended IS NOT NULL;

CREATE TABLE airlock.gone (tenant bytea NOT NULL, url bytea NOT NULL, until bigint NOT NULL, PRIMARY KEY (tenant, url));

CREATE TABLE airlock.deliveries (
	key bytea PRIMARY KEY, mark bytea NOT NULL, until bigint NOT NULL, owner text NOT NULL, claim text NOT NULL,
	tenant bytea NOT NULL, subject bytea NOT NULL, kind text NOT NULL, answer bytea
);
CREATE INDEX deliveries_until ON airlock.deliveries (tenant, kind, until);

CREATE TABLE airlock.events (
	tenant bytea NOT NULL, name bytea NOT NULL, id bytea NOT NULL, at bigint NOT NULL,
	seq bigint GENERATED ALWAYS AS IDENTITY, event bytea NOT NULL, PRIMARY KEY (tenant, name, id)
);
CREATE INDEX events_at ON airlock.events (tenant, at);

CREATE TABLE airlock.documents (name text PRIMARY KEY, tag text NOT NULL, body bytea NOT NULL);

CREATE TABLE airlock.probe (id integer PRIMARY KEY, told text NOT NULL);

-- A tenant's use is the sum over its slots. Transactions of different connections count in different slots, so that
-- they do not wait for one another; Prune merges the slots.
CREATE TABLE airlock.usage (
	tenant bytea NOT NULL, kind text NOT NULL, subject bytea NOT NULL, slot integer NOT NULL,
	n bigint NOT NULL, bytes bigint NOT NULL, PRIMARY KEY (tenant, kind, subject, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- +goose StatementBegin
CREATE FUNCTION airlock.count(_tenant bytea, _kind text, _subject bytea, _n bigint, _bytes bigint) RETURNS void
LANGUAGE sql AS $$
	INSERT INTO airlock.usage AS u (tenant, kind, subject, slot, n, bytes)
	SELECT _tenant, _kind, s, pg_backend_pid() % 32, _n, _bytes
	FROM (SELECT DISTINCT s FROM unnest(ARRAY[''::bytea, _subject]) AS s) AS subjects ORDER BY s
	ON CONFLICT (tenant, kind, subject, slot) DO UPDATE SET n = u.n + excluded.n, bytes = u.bytes + excluded.bytes
$$;
-- +goose StatementEnd

-- A row counts 512 bytes beside its content: keys, its part of the indexes, and unused space of pages.

-- +goose StatementBegin
CREATE FUNCTION airlock.count_job() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	old_kind text; new_kind text; old_bytes bigint; new_bytes bigint;
BEGIN
	IF TG_OP <> 'INSERT' THEN
		old_kind := CASE WHEN OLD.ended IS NOT NULL THEN 'results' WHEN OLD.status = 'queued' THEN 'queued' ELSE 'running' END;
		old_bytes := 512 + octet_length(OLD.doc) + octet_length(OLD.request) + coalesce(octet_length(OLD.result), 0);
	END IF;
	IF TG_OP <> 'DELETE' THEN
		new_kind := CASE WHEN NEW.ended IS NOT NULL THEN 'results' WHEN NEW.status = 'queued' THEN 'queued' ELSE 'running' END;
		new_bytes := 512 + octet_length(NEW.doc) + octet_length(NEW.request) + coalesce(octet_length(NEW.result), 0);
	END IF;
	IF old_kind IS NOT DISTINCT FROM new_kind THEN
		IF old_bytes <> new_bytes THEN
			PERFORM airlock.count(NEW.tenant, new_kind, NEW.subject, 0, new_bytes - old_bytes);
		END IF;
		RETURN NULL;
	END IF;
	IF old_kind IS NOT NULL THEN
		PERFORM airlock.count(OLD.tenant, old_kind, OLD.subject, -1, -old_bytes);
	END IF;
	IF new_kind IS NOT NULL THEN
		PERFORM airlock.count(NEW.tenant, new_kind, NEW.subject, 1, new_bytes);
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER counted AFTER INSERT OR DELETE OR UPDATE OF status, ended, doc, request, result ON airlock.jobs
	FOR EACH ROW EXECUTE FUNCTION airlock.count_job();

-- +goose StatementBegin
CREATE FUNCTION airlock.count_function() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP <> 'INSERT' THEN
		PERFORM airlock.count(OLD.tenant, 'functions', '', -1, -512 - octet_length(OLD.doc));
		IF OLD.next IS NOT NULL THEN
			PERFORM airlock.count(OLD.tenant, 'schedules', '', -1, -512);
		END IF;
	END IF;
	IF TG_OP <> 'DELETE' THEN
		PERFORM airlock.count(NEW.tenant, 'functions', '', 1, 512 + octet_length(NEW.doc));
		IF NEW.next IS NOT NULL THEN
			PERFORM airlock.count(NEW.tenant, 'schedules', '', 1, 512);
		END IF;
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER counted AFTER INSERT OR DELETE OR UPDATE OF next, doc ON airlock.functions
	FOR EACH ROW EXECUTE FUNCTION airlock.count_function();

-- +goose StatementBegin
CREATE FUNCTION airlock.count_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP <> 'INSERT' THEN
		PERFORM airlock.count(OLD.tenant, 'functions', '', -1, -512 - octet_length(OLD.content));
	END IF;
	IF TG_OP <> 'DELETE' THEN
		PERFORM airlock.count(NEW.tenant, 'functions', '', 1, 512 + octet_length(NEW.content));
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON airlock.versions
	FOR EACH ROW EXECUTE FUNCTION airlock.count_version();

-- +goose StatementBegin
CREATE FUNCTION airlock.count_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP <> 'INSERT' THEN
		PERFORM airlock.count(OLD.tenant, OLD.kind, OLD.subject, -1,
			-512 - octet_length(OLD.mark) - octet_length(OLD.key) - coalesce(octet_length(OLD.answer), 0));
	END IF;
	IF TG_OP <> 'DELETE' THEN
		PERFORM airlock.count(NEW.tenant, NEW.kind, NEW.subject, 1,
			512 + octet_length(NEW.mark) + octet_length(NEW.key) + coalesce(octet_length(NEW.answer), 0));
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER counted AFTER INSERT OR DELETE OR UPDATE OF answer, mark, tenant, subject, kind ON airlock.deliveries
	FOR EACH ROW EXECUTE FUNCTION airlock.count_delivery();

-- +goose StatementBegin
CREATE FUNCTION airlock.count_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP <> 'INSERT' THEN
		PERFORM airlock.count(OLD.tenant, 'deliveries', '', -1, -512 - octet_length(OLD.event));
	END IF;
	IF TG_OP <> 'DELETE' THEN
		PERFORM airlock.count(NEW.tenant, 'deliveries', '', 1, 512 + octet_length(NEW.event));
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER counted AFTER INSERT OR DELETE OR UPDATE OF event ON airlock.events
	FOR EACH ROW EXECUTE FUNCTION airlock.count_event();

-- Submit stores a job, unless one with its ID exists, and returns true. It returns false and stores nothing if the
-- tenant's use is near one of the given limits: whether the job fits is then decided under a lock.
-- +goose StatementBegin
CREATE FUNCTION airlock.submit(_id bytea, _tenant bytea, _subject bytea, _status text, _priority integer,
	_not_before bigint, _change text, _doc bytea, _request bytea, _max_queued bigint, _max_jobs bigint,
	_max_results bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	queued bigint; jobs bigint; results bigint;
BEGIN
	SELECT coalesce(sum(n) FILTER (WHERE kind = 'queued'), 0),
		coalesce(sum(bytes) FILTER (WHERE kind IN ('queued', 'running')), 0),
		coalesce(sum(bytes) FILTER (WHERE kind = 'results'), 0)
		INTO queued, jobs, results FROM airlock.usage
		WHERE tenant = _tenant AND kind IN ('queued', 'running', 'results') AND subject = '';
	IF queued > _max_queued OR jobs > _max_jobs OR results > _max_results THEN
		RETURN false;
	END IF;
	INSERT INTO airlock.jobs (id, tenant, subject, status, priority, not_before, change, doc, request)
		VALUES (_id, _tenant, _subject, _status, _priority, _not_before, _change, _doc, _request)
		ON CONFLICT (id) DO NOTHING;
	RETURN true;
END $$;
-- +goose StatementEnd

-- Claim claims the next job: of the first tenant in order after the given one that is not passed over, the highest
-- priority and then the oldest. It skips jobs that another transaction is claiming. Its cost grows with the number of
-- tenants, and not with their jobs. A time more than an hour ahead was set by a clock that was set back since.
-- +goose StatementBegin
CREATE FUNCTION airlock.claim(_owner text, _claim text, _now bigint, _start_before bigint, _after bytea,
	_over bytea[]) RETURNS SETOF airlock.jobs LANGUAGE plpgsql AS $$
DECLARE
	_tenant bytea := _after; _seq bigint; wrapped boolean := false;
BEGIN
	LOOP
		SELECT j.tenant INTO _tenant FROM airlock.jobs j WHERE j.status = 'queued' AND j.tenant > _tenant
			ORDER BY j.tenant LIMIT 1;
		IF NOT FOUND THEN
			EXIT WHEN wrapped;
			wrapped := true;
			SELECT j.tenant INTO _tenant FROM airlock.jobs j WHERE j.status = 'queued' ORDER BY j.tenant LIMIT 1;
			EXIT WHEN NOT FOUND;
		END IF;
		EXIT WHEN wrapped AND _tenant > _after;
		CONTINUE WHEN _tenant = ANY (_over);
		SELECT j.seq INTO _seq FROM airlock.jobs j WHERE j.status = 'queued' AND j.tenant = _tenant
			AND (j.not_before <= _now OR j.not_before > _now + 3600000)
			ORDER BY j.priority DESC, j.seq LIMIT 1 FOR UPDATE SKIP LOCKED;
		IF FOUND THEN
			RETURN QUERY UPDATE airlock.jobs j SET status = 'running', owner = _owner, claim = _claim, change = _claim,
				claimed = clock_timestamp(), started = _now, start_before = _start_before WHERE j.seq = _seq RETURNING j.*;
			RETURN;
		END IF;
	END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 1;
