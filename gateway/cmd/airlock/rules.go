package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/policy"
)

var _ gateway.Decider = (*rules)(nil)

// rules is the policy in force. It can be read again; a file that is wrong leaves it as it was.
//
// Function processes read a copy of the file, which only ever holds what was found right: one that starts while somebody
// edits the file starts with the policy in force.
type rules struct {
	getenv func(string) string
	set    atomic.Pointer[policy.Set]
	dir    string // holds the copy; "" without a policy file
}

// openRules reads AIRLOCK_POLICY_FILE and EGRESS_ALLOW. It must be closed.
func openRules(getenv func(string) string) (*rules, error) {
	r := &rules{getenv: getenv}
	set, text, err := process.ReadRules(getenv)
	if err != nil {
		return nil, err
	}
	if text != nil {
		if r.dir, err = os.MkdirTemp("", "airlock-policy-"); err != nil {
			return nil, fmt.Errorf("AIRLOCK_POLICY_FILE: keep a copy for function processes: %w", err)
		}
		if err := r.copy(text); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	r.set.Store(set)
	return r, nil
}

// reload reads the file again, where there is one. An error means that nothing has changed.
func (r *rules) reload() error {
	if r.dir == "" {
		return nil
	}
	set, text, err := process.ReadRules(r.getenv)
	if err != nil {
		return err
	}
	if err := r.copy(text); err != nil {
		return err
	}
	r.set.Store(set)
	return nil
}

// file is the copy's path.
func (r *rules) file() string {
	if r.dir == "" {
		return ""
	}
	return filepath.Join(r.dir, filepath.Base(r.getenv("AIRLOCK_POLICY_FILE")))
}

// copy puts text in the place of the copy, all of it at once.
func (r *rules) copy(text []byte) error {
	fresh := filepath.Join(r.dir, ".new")
	err := os.WriteFile(fresh, text, 0o600)
	if err == nil {
		err = os.Rename(fresh, r.file())
	}
	if err != nil {
		return fmt.Errorf("AIRLOCK_POLICY_FILE: keep a copy for function processes: %w", err)
	}
	return nil
}

func (r *rules) close() error {
	if r.dir == "" {
		return nil
	}
	return os.RemoveAll(r.dir)
}

// Decide implements gateway.Decider.
func (r *rules) Decide(ask policy.Ask) policy.Decision { return r.set.Load().Decide(ask) }

// AnalyzeAsk implements gateway.Decider.
func (r *rules) AnalyzeAsk(ask policy.Ask) policy.Decision { return r.set.Load().AnalyzeAsk(ask) }

// Tiers implements gateway.Decider.
func (r *rules) Tiers() []policy.Tier { return r.set.Load().Tiers() }

// Quota gives what one tenant may use.
func (r *rules) Quota(tenant string) policy.Quota { return r.set.Load().Quota(tenant) }

// Hosts are those that are opened now.
func (r *rules) Hosts() []string { return r.set.Load().Hosts() }

// secrets are the names of the secrets that the policy knows.
func (r *rules) secrets() []string { return r.set.Load().Secrets() }
