package settings

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/airlock-run/airlock/gateway/callbacks"
)

// state returns AIRLOCK_STATE: the absolute path of the folder of saved functions and jobs, the URL of a bucket that
// several gateways share, or "" for none. The default is a folder beside the folder of the audit records, such as
// ./state beside ./audit, and none on Lambda.
func (r *reader) state(auditStore string) string {
	dir := strings.TrimPrefix(strings.TrimSpace(r.getenv("AIRLOCK_STATE")), "file://")
	if dir == "none" || dir == "" && r.getenv("AWS_LAMBDA_RUNTIME_API") != "" {
		return ""
	}
	if dir == "" {
		dir = "state"
		if records, ok := strings.CutPrefix(auditStore, "file://"); ok {
			dir = filepath.Join(filepath.Dir(records), "state")
			if base := filepath.Base(records); base != "audit" {
				dir = filepath.Join(filepath.Dir(records), base+"-state")
			}
		}
	}
	if bucket, _, _ := strings.Cut(strings.TrimPrefix(dir, "s3://"), "/"); IsBucket(dir) && bucket != "" {
		return dir
	}
	if strings.Contains(dir, "://") {
		r.fail("AIRLOCK_STATE", "must be the path of a folder, s3://bucket/prefix, or none; got %q", dir)
		return ""
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		r.fail("AIRLOCK_STATE", "%q has no absolute path: %v", dir, err)
		return ""
	}
	return abs
}

// Stores returns the URL of the record store that store names and the state that AIRLOCK_STATE names beside it.
func Stores(getenv func(string) string, store string) (records, state string, err error) {
	named := &reader{getenv: func(string) string { return store }}
	records = named.auditStore()
	r := &reader{getenv: getenv}
	state = r.state(records)
	return records, state, Wrong(errors.Join(r.wrong...))
}

// callbackSecret returns CALLBACK_SECRET, which signs callbacks whose callers gave no secret.
func (r *reader) callbackSecret() string {
	secret := strings.TrimSpace(r.getenv("CALLBACK_SECRET"))
	if secret == "" {
		return ""
	}
	if !callbacks.ValidSecret(secret) {
		r.fail("CALLBACK_SECRET", "must be whsec_ and base64 of 16 to 64 bytes after it, such as whsec_$(openssl rand "+
			"-base64 24)")
		return ""
	}
	return secret
}
