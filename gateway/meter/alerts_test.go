package meter_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"github.com/airlock-run/airlock/gateway/meter"
)

// matched reports whether a meter that has counted nothing exposes a series that a selector selects.
func matched(t *testing.T, s *parser.VectorSelector) bool {
	t.Helper()
	exposition, err := meter.NewExposition(meter.New())
	if err != nil {
		t.Fatal(err)
	}
	body, err := exposition.Text()
	if err != nil {
		t.Fatal(err)
	}
	text := expfmt.NewTextParser(model.UTF8Validation)
	families, err := text.TextToMetricFamilies(strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range families[s.Name].GetMetric() {
		values := map[string]string{model.MetricNameLabel: s.Name}
		for _, l := range m.GetLabel() {
			values[l.GetName()] = l.GetValue()
		}
		if !slices.ContainsFunc(s.LabelMatchers, func(l *labels.Matcher) bool { return !l.Matches(values[l.Name]) }) {
			return true
		}
	}
	return false
}

// Series that alerts watch exist before anything is counted: to Prometheus, the first increase of a series that was not
// there before is none.
func TestAlertsSeeTheFirstIncrease(t *testing.T) {
	t.Parallel()
	rules, errs := rulefmt.ParseFile("../../infra/monitoring/alerts.yaml", false, model.UTF8Validation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	seen := 0
	for _, rule := range rules.Groups[0].Rules {
		parsed, err := parser.ParseExpr(rule.Expr)
		if err != nil {
			t.Fatal(err)
		}
		parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if !ok || s.Name != "airlock_requests_refused_total" && s.Name != "airlock_executions_total" {
				return nil
			}
			seen++
			if !matched(t, s) {
				t.Errorf("alert %s: a gateway that has just started has no %s", rule.Alert, s)
			}
			return nil
		})
	}
	if seen < 6 {
		t.Errorf("%d selectors were looked at", seen)
	}
}

// Each alert has series over which it fires, and ones over which it is silent.
func TestAlertsHaveSeries(t *testing.T) {
	t.Parallel()
	rules, errs := rulefmt.ParseFile("../../infra/monitoring/alerts.yaml", false, model.UTF8Validation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	text, err := os.ReadFile("../../infra/monitoring/alerts_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tests []struct {
			Name  string
			Cases []struct {
				Alert string `yaml:"alertname"`
				Fires []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	names, fires, silent := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		if names[test.Name] {
			t.Errorf("two tests have the name %q", test.Name)
		}
		names[test.Name] = true
		for _, c := range test.Cases {
			if len(c.Fires) > 0 {
				fires[c.Alert] = true
			} else {
				silent[c.Alert] = true
			}
		}
	}
	for _, rule := range rules.Groups[0].Rules {
		if !fires[rule.Alert] {
			t.Errorf("%s fires in no test", rule.Alert)
		}
		if !silent[rule.Alert] {
			t.Errorf("%s is silent in no test", rule.Alert)
		}
	}
}
