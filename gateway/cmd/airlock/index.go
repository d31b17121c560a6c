package main

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/auditindex"
	"github.com/airlock-run/airlock/infra/filerecords"
	"github.com/airlock-run/airlock/infra/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

var (
	_ gateway.Index     = (*auditindex.Index)(nil)
	_ auditindex.Log    = (*filerecords.Store)(nil)
	_ auditindex.Bucket = (*s3records.Store)(nil)
)

// indexRecords puts an index, kept in the folder of the state, before the records. Without it, or when it cannot be made,
// everything works but over fewer records at once. It is released before the records are.
func indexRecords(ctx context.Context, store audit.Store, state string, log *slog.Logger) (audit.Store, func() error) {
	none := func() error { return nil }
	if state == "" || isBucket(state) {
		return store, none
	}
	folder := filepath.Join(state, "audit-index")
	index, err := auditindex.Open(ctx, folder, store, auditindex.Config{Log: log})
	if err != nil {
		log.Warn("the records have no index; summaries are over the newest only", "folder", folder, "error", err)
		return store, none
	}
	return index, index.Close
}
