package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

// Records configures how records are stored. The gateway and its function processes read the same variables, so that
// both write the same records into one store.
type Records struct {
	// ChainKey, if set, adds a keyed code to every record.
	ChainKey []byte
	// S3Endpoint is the S3 service; "" means AWS.
	S3Endpoint string
	// Sync is AUDIT_SYNC: a record in a folder is flushed to disk before its result is returned.
	Sync bool
	// KeepCode is AUDIT_CODE=keep: records hold the code and the whole request, which replay needs.
	KeepCode bool
	// RedactFields is AUDIT_REDACT: paths in a record whose values are not stored.
	RedactFields []string
}

// ReadRecords reads AUDIT_CHAIN_KEY, S3_ENDPOINT, AUDIT_SYNC, AUDIT_CODE and AUDIT_REDACT. The error names every
// variable that is wrong.
func ReadRecords(getenv func(string) string) (Records, error) {
	var wrong []error
	r := Records{ChainKey: []byte(getenv("AUDIT_CHAIN_KEY")), S3Endpoint: strings.TrimSpace(getenv("S3_ENDPOINT"))}
	if n := len(r.ChainKey); n > 0 && n < 16 {
		wrong = append(wrong, fmt.Errorf("AUDIT_CHAIN_KEY: has %d bytes; at least 16 are needed", n))
	}
	if err := checkEndpoint(r.S3Endpoint); err != nil {
		wrong = append(wrong, fmt.Errorf("S3_ENDPOINT: %w", err))
	}
	if text := getenv("AUDIT_SYNC"); text != "" {
		var err error
		if r.Sync, err = strconv.ParseBool(text); err != nil {
			wrong = append(wrong, fmt.Errorf("AUDIT_SYNC: must be true or false; got %q", text))
		}
	}
	switch text := getenv("AUDIT_CODE"); text {
	case "", "hash":
	case keep:
		r.KeepCode = true
	default:
		wrong = append(wrong, fmt.Errorf("AUDIT_CODE: must be hash (the default) or keep; got %q", text))
	}
	for path := range strings.SplitSeq(getenv("AUDIT_REDACT"), ",") {
		if path = strings.TrimSpace(path); path != "" {
			r.RedactFields = append(r.RedactFields, path)
		}
	}
	if _, err := r.Redactor(); err != nil {
		wrong = append(wrong, fmt.Errorf("AUDIT_REDACT: %w", err))
	}
	return r, errors.Join(wrong...)
}

// keep is the value of AUDIT_CODE that records the code.
const keep = "keep"

// checkEndpoint returns an error unless text is empty or the URL of a service.
func checkEndpoint(text string) error {
	if text == "" {
		return nil
	}
	if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("must be a URL such as https://s3.example.com; got %q", text)
	}
	return nil
}

// Open opens the store at a URL for reading and writing.
func (r Records) Open(ctx context.Context, store string, log *slog.Logger) (records.Store, error) {
	opened, err := records.Open(ctx, store, records.Config{
		Key: r.ChainKey, Sync: r.Sync, S3: s3records.Config{Endpoint: r.S3Endpoint}, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("AUDIT_STORE: %w; set it to a folder that this user can write, or to a bucket that its "+
			"credentials can", err)
	}
	return opened, nil
}

// shortestSecret is the shortest secret that is redacted; shorter values occur in ordinary text.
const shortestSecret = 6

// Redactor returns a redactor that removes the secrets, values that look like credentials, and RedactFields from
// records. It ignores secrets of less than 6 bytes.
func (r Records) Redactor(secrets ...string) (*audit.Redactor, error) {
	cfg := audit.RedactConfig{Fields: r.RedactFields}
	for _, s := range secrets {
		if len(s) >= shortestSecret {
			cfg.Secrets = append(cfg.Secrets, s)
		}
	}
	return audit.NewRedactor(cfg)
}
