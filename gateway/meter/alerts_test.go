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

// startSeries returns the series that a gateway exposes before it has counted anything, with their labels.
func startSeries(t *testing.T) []map[string]string {
	t.Helper()
	exposition, err := meter.NewExposition(meter.New())
	if err == nil {
		err = exposition.Add(meter.NewWork())
	}
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
	var all []map[string]string
	for name, family := range families {
		for _, m := range family.GetMetric() {
			series := map[string]string{model.MetricNameLabel: name}
			for _, l := range m.GetLabel() {
				series[l.GetName()] = l.GetValue()
			}
			all = append(all, series)
		}
	}
	return all
}

// selects reports whether a selector selects a series.
func selects(s *parser.VectorSelector, series map[string]string) bool {
	return !slices.ContainsFunc(s.LabelMatchers, func(l *labels.Matcher) bool { return !l.Matches(series[l.Name]) })
}

// refused counts the requests that were answered with a problem. Only the codes that alerts watch are known at the
// start.
const refused = "airlock_requests_refused_total"

// Series that alerts watch exist before anything is counted: to Prometheus, the first increase of a series that was not
// there before is none. The codes of problems that exist from the start are those that alerts watch.
func TestAlertsSeeTheFirstIncrease(t *testing.T) {
	t.Parallel()
	rules, errs := rulefmt.ParseFile("../../infra/monitoring/alerts.yaml", false, model.UTF8Validation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var selectors []*parser.VectorSelector
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			parsed, err := parser.ParseExpr(rule.Expr)
			if err != nil {
				t.Fatal(err)
			}
			parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
				if s, ok := n.(*parser.VectorSelector); ok {
					selectors = append(selectors, s)
				}
				return nil
			})
		}
	}
	start := startSeries(t)
	counted := map[string]int{
		refused: 0, "airlock_executions_total": 0, "airlock_callback_attempts_total": 0, "airlock_hook_deliveries_total": 0,
	}
	for _, s := range selectors {
		if _, counts := counted[s.Name]; !counts {
			continue
		}
		counted[s.Name]++
		if !slices.ContainsFunc(start, func(series map[string]string) bool { return selects(s, series) }) {
			t.Errorf("a gateway that has just started has no %s", s)
		}
	}
	for name, n := range counted {
		if n == 0 {
			t.Errorf("no alert watches %s", name)
		}
	}
	for _, series := range start {
		if series[model.MetricNameLabel] == refused &&
			!slices.ContainsFunc(selectors, func(s *parser.VectorSelector) bool { return selects(s, series) }) {
			t.Errorf("no alert watches the code %s", series["code"])
		}
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
