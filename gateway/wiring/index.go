package wiring

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/records"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/records/auditindex"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

var (
	_ records.Index     = (*auditindex.Index)(nil)
	_ auditindex.Log    = (*filerecords.Store)(nil)
	_ auditindex.Bucket = (*s3records.Store)(nil)
)

// indexFolder returns the folder of the index over the records: in the state or, if machines share the state, in
// this user's cache, one folder per record store. It returns "" without a state, and on Lambda, where no disk lasts
// and nothing can follow the records between requests.
func indexFolder(set settings.Settings, getenv func(string) string) string {
	switch {
	case set.State == "" || set.OnLambda.Front != "":
		return ""
	case !settings.IsShared(set.State):
		return filepath.Join(set.State, "audit-index")
	}
	place := sha256.Sum256([]byte(set.Records.S3Endpoint + " " + set.AuditStore))
	cache := process.OwnCacheDir(getenv)
	if cache == "" {
		return ""
	}
	return filepath.Join(cache, fmt.Sprintf("audit-index-%x", place[:8]))
}

// indexRecords puts an index in front of the records. Without an index everything works, over fewer records at once.
// release must be called before the records are closed.
func indexRecords(ctx context.Context, store audit.Store, folder string, log *slog.Logger) (indexed audit.Store,
	release func() error) {
	none := func() error { return nil }
	if folder == "" {
		return store, none
	}
	index, err := auditindex.Open(ctx, folder, store, auditindex.Config{Log: log})
	if err != nil {
		log.Warn("the records have no index; summaries cover the newest records only", "folder", folder, "error", err)
		return store, none
	}
	return index, index.Close
}
