package gateway_test

import (
	"context"
	"errors"
	"testing"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

// proving is a ledger that can be verified. Each verification takes the next outcome.
type proving struct {
	*ledger
	outcomes chan func() (audit.Report, error)
}

func (p *proving) Verify(ctx context.Context) (audit.Report, error) {
	select {
	case outcome := <-p.outcomes:
		return outcome()
	case <-ctx.Done():
		return audit.Report{}, ctx.Err()
	}
}

func TestVerification(t *testing.T) {
	t.Parallel()
	p := &proving{&ledger{}, make(chan func() (audit.Report, error))}
	s := serve(t, options{store: p, auth: authn.Config{Keys: hs256(t)}})
	all, own := bearer(token(t, "someone", "acme", "audit:read:all")), bearer(token(t, "someone", "acme", "audit:read"))
	const path = "/api/audit/verification"
	state := func(who string) map[string]any { return s.do(t, "GET", path, "", who).json(t) }
	if v := state(own); v["state"] != "never" || v["running"] != false || v["checkedAt"] != nil {
		t.Error(v)
	}
	s.do(t, "POST", path, "", own).problem(t, 403)
	problem := audit.Problem{Fault: audit.Altered, ID: "exec_01AAAAAAAAAA", Detail: "x"}
	for _, c := range []struct {
		state   string
		outcome func() (audit.Report, error)
	}{
		{"sound", func() (audit.Report, error) { return audit.Report{Records: 3, Writers: 2}, nil }},
		{"broken", func() (audit.Report, error) {
			return audit.Report{Records: 3, Problems: []audit.Problem{problem}, Omitted: 4}, nil
		}},
		{"failed", func() (audit.Report, error) { return audit.Report{}, errors.New("no") }},
	} {
		for range 2 { // the second finds that one runs
			if a := s.do(t, "POST", path, "", all); a.StatusCode != 202 || a.json(t)["running"] != true {
				t.Fatalf("%s: %s", a.Status, a.body)
			}
		}
		p.outcomes <- c.outcome
		f := s.follow(t, "view=security", all)
		f.until(func(shown map[string]map[string]any) bool {
			return shown["chain"]["running"] == false && shown["chain"]["state"] == c.state
		})
	}
	s.do(t, "POST", path, "", all)
	p.outcomes <- func() (audit.Report, error) { return audit.Report{Problems: []audit.Problem{problem}}, nil }
	s.follow(t, "view=security", all).until(
		func(shown map[string]map[string]any) bool { return shown["chain"]["state"] == "broken" },
	)
	if v := state(all); len(v["problems"].([]any)) != 1 || v["problemCount"] != 1.0 {
		t.Error(v)
	}
	if v := state(own); len(v["problems"].([]any)) != 0 || v["problemCount"] != 1.0 {
		t.Errorf("a tenant sees others' records: %v", v)
	}
	s.do(t, "POST", path, "", all) // a shutdown gives up the one that runs
}

func TestVerificationUnsupported(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	if v := s.do(t, "GET", "/api/audit/verification", "").json(t); v["state"] != "unsupported" {
		t.Error(v)
	}
	s.do(t, "POST", "/api/audit/verification", "").problem(t, 501)
}
