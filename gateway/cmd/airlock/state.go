package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/callbacks"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/s3state"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/policy"
)

var (
	_ gateway.State = (*sqlitestate.Store)(nil)
	_ gateway.State = (*s3state.Store)(nil)
)

// state gives AIRLOCK_STATE: the folder of saved functions and jobs as an absolute path, or the bucket of a state that
// several gateways share, or "" for none. When it is not set it is beside the folder of the audit records, so that what belongs together stays together: ./state beside ./audit.
// On Lambda it is none.
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
	if bucket, _, _ := strings.Cut(strings.TrimPrefix(dir, "s3://"), "/"); isBucket(dir) && bucket != "" {
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

// openState opens what AIRLOCK_STATE names; nil where that is none.
func openState(ctx context.Context, set settings, quota func(tenant string) policy.Quota) (gateway.State, func() error, error) {
	if set.state == "" {
		return nil, func() error { return nil }, nil
	}
	if isBucket(set.state) {
		state, err := s3state.Open(ctx, set.state, s3state.Config{
			Access: s3objects.Access{Endpoint: set.keeping.S3Endpoint},
			NoJobs: set.front != "" && set.front != frontJobs && set.jobsFunction == "",
		})
		if err != nil {
			return nil, nil, fmt.Errorf("AIRLOCK_STATE: %w", err)
		}
		return state, state.Close, nil
	}
	state, err := sqlitestate.Open(set.state, sqlitestate.Config{
		MaxJobs: bounds.Of(bounds.Jobs).Most, MaxJobsPerTenant: bounds.Of(bounds.JobsOfEach).Most,
		Storage: func(tenant string) execution.Storage { return execution.Storage(quota(tenant).Storage) },
	})
	if err != nil {
		return nil, nil, fmt.Errorf("AIRLOCK_STATE: %w; set AIRLOCK_STATE to a folder that can be written", err)
	}
	return state, state.Close, nil
}

// callbackKey gives CALLBACK_SECRET, with which callbacks are signed whose callers gave no secret.
func (r *reader) callbackKey() string {
	secret := strings.TrimSpace(r.getenv("CALLBACK_SECRET"))
	if secret == "" {
		return ""
	}
	if !callbacks.ValidSecret(secret) {
		r.fail("CALLBACK_SECRET", "must be whsec_ and base64 of 16 to 64 bytes after it, such as whsec_$(openssl rand -base64 24)")
		return ""
	}
	return secret
}
