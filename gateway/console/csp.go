package console

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
)

// ReportPath is where browsers report violations of the policy.
const ReportPath = "/csp-report"

func directives() []string {
	return []string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
		"base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
		"trusted-types 'none'", "report-uri " + ReportPath,
	}
}

// Policy returns the Content-Security-Policy of the page.
func (p Page) Policy() string {
	all := directives()
	for _, d := range p.Directives {
		name, _, _ := strings.Cut(d, " ")
		same := func(have string) bool { return have == name || strings.HasPrefix(have, name+" ") }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i] = d
		} else {
			all = append(all, d)
		}
	}
	return strings.Join(all, "; ")
}

// Reports counts the violations that browsers report. The zero value is ready for use. It is safe for concurrent use.
type Reports struct{ n atomic.Int64 }

// Count returns the number of reports.
func (r *Reports) Count() int64 { return r.n.Load() }

// Take counts a report, in either of the forms that browsers send (CSP Level 2 §4.4, Reporting API §3). It returns
// the directive that was violated; ok is false for what is not a report. Anybody can send reports, so they are
// counted and not used otherwise.
func (r *Reports) Take(body []byte) (directive string, ok bool) {
	var old struct {
		Report *struct {
			Effective string `json:"effective-directive"`
			Violated  string `json:"violated-directive"`
		} `json:"csp-report"`
	}
	if json.Unmarshal(body, &old) == nil && old.Report != nil {
		r.n.Add(1)
		directive, _, _ = strings.Cut(cmp.Or(old.Report.Effective, old.Report.Violated), " ")
		return clipped(directive), true
	}
	var batch []struct {
		Type string `json:"type"`
		Body struct {
			Effective string `json:"effectiveDirective"`
		} `json:"body"`
	}
	if json.Unmarshal(body, &batch) != nil {
		return "", false
	}
	for _, one := range batch {
		if one.Type == "csp-violation" {
			r.n.Add(1)
			directive, ok = clipped(one.Body.Effective), true
		}
	}
	return directive, ok
}

func clipped(s string) string { return strings.ToValidUTF8(s[:min(len(s), 64)], "") }
