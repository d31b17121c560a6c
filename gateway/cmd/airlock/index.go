package main

import (
	"context"
	"log/slog"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/auditindex"
	"github.com/airlock-run/airlock/policy/audit"
)

var _ gateway.Index = (*auditindex.Index)(nil)

// indexRecords puts an index, kept in a folder, before records that can be followed: those of a local folder. Without it,
// or when it cannot be made, everything works but over fewer records at once. It is released before the records are.
func indexRecords(ctx context.Context, store audit.Store, folder string, log *slog.Logger) (audit.Store, func() error) {
	none := func() error { return nil }
	source, ok := store.(auditindex.Source)
	if !ok {
		return store, none
	}
	index, err := auditindex.Open(ctx, folder, source, auditindex.Config{Log: log})
	if err != nil {
		log.Warn("the records have no index; summaries are over the newest only", "folder", folder, "error", err)
		return store, none
	}
	return index, index.Close
}
