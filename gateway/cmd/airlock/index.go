package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/records/auditindex"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

var (
	_ gateway.Index     = (*auditindex.Index)(nil)
	_ auditindex.Log    = (*filerecords.Store)(nil)
	_ auditindex.Bucket = (*s3records.Store)(nil)
)

// indexFolder gives the folder of the index over the records: in the state, or, where that is a bucket, among what this user
// of this machine may lose, one for each place of records. It is "" where there is none: without a state, and on Lambda,
// where what is in memory or on the disk is gone with its environment, and nothing can follow the records between requests.
func indexFolder(set settings, getenv func(string) string) string {
	switch {
	case set.state == "" || set.front != "":
		return ""
	case !isBucket(set.state):
		return filepath.Join(set.state, "audit-index")
	}
	place := sha256.Sum256([]byte(set.keeping.S3Endpoint + " " + set.auditStore))
	cache := process.OwnCacheDir(getenv)
	if cache == "" {
		return ""
	}
	return filepath.Join(cache, fmt.Sprintf("audit-index-%x", place[:8]))
}

// indexRecords puts an index, kept in the folder, before the records. Without it, or when it cannot be made, everything works
// but over fewer records at once. It is released before the records are.
func indexRecords(ctx context.Context, store audit.Store, folder string, log *slog.Logger) (audit.Store, func() error) {
	none := func() error { return nil }
	if folder == "" {
		return store, none
	}
	index, err := auditindex.Open(ctx, folder, store, auditindex.Config{Log: log})
	if err != nil {
		log.Warn("the records have no index; summaries are over the newest only", "folder", folder, "error", err)
		return store, none
	}
	return index, index.Close
}
