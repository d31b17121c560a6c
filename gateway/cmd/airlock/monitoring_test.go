package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// exposition maps the series that a gateway exposes to their labels.
type exposition map[string]map[string]bool

// exposed runs a gateway until every kind of metric has a value, and reads its /metrics.
func exposed(t *testing.T) exposition {
	t.Helper()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000")
	for _, body := range []string{`{"code":"1"}`, `{"code":"for (;;);","timeout":5}`, `{`} {
		p.post(t.Context(), t, "/api/execute", body)
	}
	if status, answer := p.put(t, "/api/functions/f", `{"code":"export default () => 1"}`); status != 201 {
		t.Fatal(status, answer)
	}
	text := expfmt.NewTextParser(model.UTF8Validation)
	families, err := text.TextToMetricFamilies(strings.NewReader(fetched(t, p.url+"/metrics")))
	if err != nil {
		t.Fatal(err)
	}
	all := exposition{
		"up": {}, // Prometheus itself writes it
		// It is exposed after the first sample, which a test does not wait for.
		"airlock_function_process_heartbeat_timestamp_seconds": {"place": true},
	}
	for name, family := range families {
		labels := map[string]bool{}
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = true
			}
		}
		all[name] = labels
		if family.GetType().String() == "HISTOGRAM" {
			buckets := maps.Clone(labels)
			buckets["le"] = true
			all[name+"_bucket"], all[name+"_sum"], all[name+"_count"] = buckets, labels, labels
			delete(all, name)
		}
	}
	return all
}

// faults returns what an expression names that is not exposed.
func (e exposition) faults(expression string) []string {
	parsed, err := parser.ParseExpr(expression)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	known := map[string]bool{"job": true, "instance": true} // Prometheus adds them to every series
	parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
		selector, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		labels, ok := e[selector.Name]
		if !ok {
			out = append(out, "no metric "+selector.Name)
		}
		maps.Copy(known, labels)
		for _, m := range selector.LabelMatchers {
			if m.Name != model.MetricNameLabel && m.Name != "job" && m.Name != "instance" && !labels[m.Name] {
				out = append(out, fmt.Sprintf("%s has no label %s", selector.Name, m.Name))
			}
		}
		return nil
	})
	parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
		if a, ok := n.(*parser.AggregateExpr); ok {
			for _, label := range a.Grouping {
				if !known[label] {
					out = append(out, "no metric of it has the label "+label)
				}
			}
		}
		return nil
	})
	return out
}

type dashboard struct {
	Title, UID string
	Templating struct{ List []struct{ Name, Type string } }
	Panels     []struct {
		ID          int
		Type, Title string
		GridPos     struct{ H, W, X, Y int }
		Datasource  struct{ Type, UID string }
		Targets     []struct{ RefID, Expr, LegendFormat string }
	}
}

// Prometheus itself loads the alert rules, and the dashboard's expressions parse. Both name only metrics and labels
// that a gateway exposes, and runbooks that exist.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	metrics := exposed(t)
	file := filepath.Join(repository, "infra/monitoring/alerts.yaml")
	rules, errs := rulefmt.ParseFile(file, false, model.UTF8Validation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	operations, err := os.ReadFile(filepath.Join(repository, "gateway/OPERATIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			names = append(names, rule.Alert)
			for _, fault := range metrics.faults(rule.Expr) {
				t.Errorf("alert %s: %s", rule.Alert, fault)
			}
			if runbook := rule.Annotations["runbook"]; !strings.Contains(string(operations), "**"+runbook) || runbook == "" {
				t.Errorf("alert %s: OPERATIONS.md has no runbook %q", rule.Alert, runbook)
			}
		}
	}
	sameNames(t, "gateway/OPERATIONS.md", quotedNames(table(t, "gateway/OPERATIONS.md", "| alert | |"), 0), names)

	text, err := os.ReadFile(filepath.Join(repository, "infra/monitoring/dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*", "$job", "airlock")
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("panel %q: the ID %d is taken", p.Title, p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok || x >= 24 {
					t.Fatalf("panel %q: column %d is outside, or covers %q", p.Title, x, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("panel %q: it reads from %q and has %d targets", p.Title, p.Datasource.UID, len(p.Targets))
		}
		for _, target := range p.Targets {
			for _, fault := range metrics.faults(filled.Replace(target.Expr)) {
				t.Errorf("panel %q: %s", p.Title, fault)
			}
		}
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	if want := []string{"datasource", "job", "instance"}; !slices.Equal(variables, want) {
		t.Errorf("the variables are %q, want %q", variables, want)
	}
}

// A fault is found in each part of an expression, so that TestMonitoring can fail.
func TestMonitoringFindsFaults(t *testing.T) {
	t.Parallel()
	e := exposition{"m": {"code": true}}
	for expression, want := range map[string]string{
		`sum(`:                          "unclosed left parenthesis",
		`rate(n[5m])`:                   "no metric n",
		`m{status="x"}`:                 "m has no label status",
		`sum by (status) (rate(m[5m]))`: "no metric of it has the label status",
	} {
		if got := strings.Join(e.faults(expression), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
	if got := e.faults(`sum by (code, instance) (rate(m{code="1",job="j"}[5m]))`); len(got) > 0 {
		t.Error(got)
	}
}
