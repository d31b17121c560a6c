package main

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

var _ gateway.Decider = (*rules)(nil)

// rules is the policy in force. It can be read again; a file that is wrong leaves it as it was.
//
// Function processes read a copy of the file, which only ever holds what was found right: one that starts while somebody
// edits the file starts with the policy in force. A copy is named by its content in this user's cache, so that a gateway that
// is killed leaves nothing that the next one does not use.
type rules struct {
	getenv  func(string) string
	set     atomic.Pointer[policy.Set]
	copied  atomic.Pointer[string] // path of the copy; nil without a policy file
	scratch string                 // holds the copies where this user has no cache; else ""
}

// openRules reads AIRLOCK_POLICY_FILE and EGRESS_ALLOW. It must be closed.
func openRules(getenv func(string) string) (*rules, error) {
	r := &rules{getenv: getenv}
	set, text, err := process.ReadRules(getenv)
	if err != nil {
		return nil, err
	}
	if text != nil {
		if err := r.keep(text); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	r.set.Store(set)
	return r, nil
}

// named reports whether there is a policy file.
func (r *rules) named() bool { return r.copied.Load() != nil }

// reload reads the file again, where there is one. An error means that nothing has changed.
func (r *rules) reload() error {
	if !r.named() {
		return nil
	}
	set, text, err := process.ReadRules(r.getenv)
	if err != nil {
		return err
	}
	if err := r.keep(text); err != nil {
		return err
	}
	r.set.Store(set)
	return nil
}

// keep makes a copy of the file's text for function processes: in this user's cache or, where there is none that can be
// written to, in a folder that close takes away.
func (r *rules) keep(text []byte) (err error) {
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

// keepIn writes text, all of it at once and unless it is there, into a folder that is named after it.
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

func (r *rules) close() error {
	if r.scratch == "" {
		return nil
	}
	return os.RemoveAll(r.scratch)
}

// environment is what function processes that start now are told: the policy in force.
func (r *rules) environment() []string {
	if copied := r.copied.Load(); copied != nil {
		return []string{"AIRLOCK_POLICY_FILE=" + *copied}
	}
	return nil
}

// DecideWith implements gateway.Decider.
func (r *rules) DecideWith(ctx context.Context, ask policy.Request, read scan.Func) (policy.Decision, error) {
	return r.set.Load().DecideWith(ctx, ask, read)
}

// secrets are the names of the secrets that may be had.
func (r *rules) secrets() []string { return r.set.Load().Secrets() }

// Decide implements runner.Decider, for what executions reach: code is not read in this process.
func (r *rules) Decide(ask policy.Request) policy.Decision { return r.set.Load().Decide(ask) }

// AnalyzeWith implements gateway.Decider.
func (r *rules) AnalyzeWith(ctx context.Context, ask policy.Request, read scan.Func) (policy.Decision, error) {
	return r.set.Load().AnalyzeWith(ctx, ask, read)
}

// Tiers implements gateway.Decider.
func (r *rules) Tiers() []policy.Tier { return r.set.Load().Tiers() }

// Quota gives what one tenant may use.
func (r *rules) Quota(tenant string) policy.Quota { return r.set.Load().Quota(tenant) }

// Hosts are those that are opened now.
func (r *rules) Hosts() []string { return r.set.Load().Hosts() }
