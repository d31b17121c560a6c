-- +goose Up

-- The paused jobs of one tenant for which something is due.
CREATE INDEX jobs_due_of ON airlock.jobs (tenant, not_before) WHERE status = 'paused';

-- +goose Down
DROP INDEX airlock.jobs_due_of;
