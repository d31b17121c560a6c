package wiring

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
)

var _ gateway.Decider = (*Rules)(nil)

// Rules is the policy in force. It can be reloaded; an invalid file changes nothing.
//
// Function processes read a copy of the file that holds only valid content, so a process that starts while the file
// is being edited starts with the policy in force. The copy is named after its content in this user's cache: the next
// gateway reuses what a killed gateway left.
type Rules struct {
	getenv  func(string) string
	set     atomic.Pointer[policy.Set]
	copied  atomic.Pointer[string] // path of the copy; nil without a policy file
	scratch string                 // holds the copies if this user has no cache; else ""
}

// openRules reads AIRLOCK_POLICY_FILE and EGRESS_ALLOW. It must be closed.
func openRules(getenv func(string) string) (*Rules, error) {
	r := &Rules{getenv: getenv}
	set, text, err := process.ReadRules(getenv)
	if err != nil {
		return nil, err
	}
	if text != nil {
		if err := r.keep(text); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	r.set.Store(set)
	return r, nil
}

// hasFile reports whether there is a policy file.
func (r *Rules) hasFile() bool { return r.copied.Load() != nil }

// reload reads the policy file again, if there is one, and the names of the packages. An error means that nothing has
// changed.
func (r *Rules) reload() error {
	set, text, err := process.ReadRules(r.getenv)
	if err != nil {
		return err
	}
	if text != nil {
		if err := r.keep(text); err != nil {
			return err
		}
	}
	r.set.Store(set)
	return nil
}

// keep writes a copy of the file for function processes: to this user's cache or, if that is not writable, to a
// folder that Close removes.
func (r *Rules) keep(text []byte) (err error) {
	name, path := filepath.Base(r.getenv("AIRLOCK_POLICY_FILE")), ""
	if cache := process.OwnCacheDir(r.getenv); cache != "" {
		path, err = keepIn(cache, name, text)
	}
	if path == "" {
		if r.scratch == "" {
			r.scratch, err = os.MkdirTemp("", "airlock-policy-")
		}
		if r.scratch != "" {
			path, err = keepIn(r.scratch, name, text)
		}
	}
	if err != nil {
		return fmt.Errorf("AIRLOCK_POLICY_FILE: keep a copy for function processes: %w", err)
	}
	r.copied.Store(&path)
	return nil
}

// keepIn writes text atomically into a folder that is named after its hash, unless it is there.
func keepIn(folder, name string, text []byte) (path string, err error) {
	folder, err = filepath.Abs(filepath.Join(folder, fmt.Sprintf("policy-%x", sha256.Sum256(text))))
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, name)
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, text) {
		return path, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	fresh, err := os.CreateTemp(folder, ".new-")
	if err != nil {
		return "", err
	}
	_, err = fresh.Write(text)
	if err = errors.Join(err, fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(fresh.Name()))
	}
	return path, nil
}

// Close removes the copies of the policy file that are not in the cache.
func (r *Rules) Close() error {
	if r.scratch == "" {
		return nil
	}
	return os.RemoveAll(r.scratch)
}

// environment returns the variables that give the policy in force to function processes that start now.
func (r *Rules) environment() []string {
	if copied := r.copied.Load(); copied != nil {
		return []string{"AIRLOCK_POLICY_FILE=" + *copied}
	}
	return nil
}

// DecideWith implements gateway.Decider.
func (r *Rules) DecideWith(ctx context.Context, ask policy.Request, read scan.Func) (policy.Decision, error) {
	return r.set.Load().DecideWith(ctx, ask, read)
}

// Validate implements gateway.Decider.
func (r *Rules) Validate(ask policy.Request) (policy.Reason, bool) { return r.set.Load().Validate(ask) }

// secrets returns the names of the secrets that the policy grants.
func (r *Rules) secrets() []string { return r.set.Load().Secrets() }

// Decide implements runner.Decider, to find out what an execution may reach. It does not scan code.
func (r *Rules) Decide(ask policy.Request) policy.Decision { return r.set.Load().Decide(ask) }

// AnalyzeWith implements gateway.Decider.
func (r *Rules) AnalyzeWith(ctx context.Context, ask policy.Request, read scan.Func) (policy.Decision, error) {
	return r.set.Load().AnalyzeWith(ctx, ask, read)
}

// Ceiling implements gateway.Decider.
func (r *Rules) Ceiling(ask policy.Request) policy.Grants { return r.set.Load().Ceiling(ask) }

// Tiers implements gateway.Decider.
func (r *Rules) Tiers() []policy.Tier { return r.set.Load().Tiers() }

// Quota returns the quota of a tenant.
func (r *Rules) Quota(tenant string) policy.Quota { return r.set.Load().Quota(tenant) }

// Hosts returns the hosts that are open now.
func (r *Rules) Hosts() []string { return r.set.Load().Hosts() }
