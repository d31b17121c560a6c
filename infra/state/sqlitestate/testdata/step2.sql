-- The file as it was before anybody counted, with a little in it.
CREATE TABLE functions (
	tenant TEXT NOT NULL, name TEXT NOT NULL, next INTEGER, doc BLOB NOT NULL,
	PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
CREATE INDEX functions_next ON functions (next) WHERE next IS NOT NULL;
CREATE TABLE versions (
	tenant TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, content BLOB NOT NULL,
	PRIMARY KEY (tenant, name, version)
);
CREATE TABLE jobs (
	seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, status TEXT NOT NULL, priority INTEGER NOT NULL,
	not_before INTEGER NOT NULL, owner TEXT NOT NULL, cancel INTEGER NOT NULL, callback INTEGER, ended INTEGER,
	doc BLOB NOT NULL, request BLOB NOT NULL, result BLOB
);
CREATE INDEX jobs_queued ON jobs (tenant, priority DESC, seq) WHERE status = 'queued';
CREATE INDEX jobs_running ON jobs (owner) WHERE status = 'running';
CREATE INDEX jobs_callback ON jobs (callback) WHERE callback IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (ended) WHERE ended IS NOT NULL;
CREATE TABLE gone (tenant TEXT NOT NULL, url TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (tenant, url)) WITHOUT ROWID;
CREATE TABLE deliveries (
	key TEXT PRIMARY KEY, mark TEXT NOT NULL, until INTEGER NOT NULL, owner TEXT NOT NULL, answer BLOB
) WITHOUT ROWID;
CREATE INDEX deliveries_until ON deliveries (until);
CREATE TABLE events (
	tenant TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, event BLOB NOT NULL,
	PRIMARY KEY (tenant, name, id)
);
CREATE INDEX events_at ON events (at);
INSERT INTO functions (tenant, name, next, doc) VALUES ('t', 'old', NULL, CAST('{"tenant":"t","name":"old","versions":[{"version":1}]}' AS BLOB));
INSERT INTO versions (tenant, name, version, content) VALUES ('t', 'old', 1, CAST('{"request":{"code":"1"}}' AS BLOB));
INSERT INTO jobs (id, tenant, status, priority, not_before, owner, cancel, doc, request)
VALUES ('exec_0000000001', 't', 'queued', 1, 0, '', 0, CAST('{"id":"exec_0000000001","tenant":"t","status":"queued"}' AS BLOB), CAST('{"code":"1"}' AS BLOB));
INSERT INTO deliveries (key, mark, until, owner) VALUES ('k', 'm', 9999999999999, 'nobody');
PRAGMA user_version = 2;
