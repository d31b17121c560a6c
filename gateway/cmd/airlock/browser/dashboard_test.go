package browser_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/airlock-run/airlock/functions/execution"
)

const ready = `document.querySelector("#key").dataset.state === "ready"`

// legend returns the totals of a chart: "completed 3" and so on.
func (b *tab) legend(chart string) string {
	b.t.Helper()
	return strings.Join(strings.Fields(b.text(chart+" .legend")), " ")
}

// row returns the row with a name from the data of a chart.
func (b *tab) row(chart, name string) string {
	b.t.Helper()
	return eval[string](b,
		`[...document.querySelectorAll(`+quote(chart+" .data tbody tr")+`)]`+
			`.find(r => r.cells[0].textContent === `+quote(name)+`)?.textContent ?? "none"`)
}

// The numbers, the charts and the lists show the executions that ran.
func TestDashboard(t *testing.T) {
	t.Parallel()
	s := serve(t)
	all := s.seeded(t)
	b := s.open(t, "/dashboard?window=15m")
	b.wait(ready)
	for id, want := range map[string]string{"#k-executions": "7", "#k-success": "42.9 %", "#k-running": "0",
		"#k-processes": "1 / 1"} {
		if got := b.text(id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
	if got := b.legend("#c-throughput"); got != "completed 3 error 2 timeout 1 blocked 1 cancelled 0" {
		t.Errorf("the throughput is %q", got)
	}
	if sums := eval[[]int](b, `(() => {
		const sums = [0, 0, 0, 0, 0];
		for (const row of document.querySelectorAll("#c-throughput .data tbody tr")) {
			sums.forEach((_, i) => { sums[i] += Number(row.cells[i + 1].textContent); });
		}
		return sums;
	})()`); len(sums) != 5 || !slices.Equal(sums[:4], []int{3, 2, 1, 1}) {
		t.Errorf("over the steps: %v", sums)
	}
	for _, c := range []struct{ chart, name, want string }{
		{"#c-status", "error", "error2"}, {"#c-policy", "strict", "strict2"}, {"#c-policy", "agent", "agent1"},
		{"#c-errors", "TypeError", "TypeError1"},
		{"#c-errors", "limit: memory", "limit: memory1"}, {"#c-errors", "limit: wall", "limit: wall1"},
		{"#c-memory", "≤ 16 MB", "≤ 16 MB1"},
	} {
		if got := b.row(c.chart, c.name); got != c.want {
			t.Errorf("%s: %q, want %q", c.chart, got, c.want)
		}
	}
	slowest := 0.0
	for _, r := range all {
		slowest = max(slowest, r.DurationMs)
	}
	_, p99, _ := strings.Cut(b.legend("#c-latency"), " p99 ")
	if shown, err := time.ParseDuration(strings.ReplaceAll(p99, " ", "")); err != nil ||
		math.Abs(float64(shown)/1e6-slowest) > .02*slowest {
		t.Errorf("p99 is %q, and the slowest ran %v ms", p99, slowest)
	}
	if id := eval[string](b,
		`document.querySelector("#slowest a").title`); !slices.ContainsFunc(slices.Collect(maps.Values(all)),
		func(r execution.Result) bool { return r.ID == id && r.DurationMs == slowest }) {
		t.Errorf("the slowest is said to be %s", id)
	}
	failed := eval[[]string](b, `[...document.querySelectorAll("#failures a")].map(a => a.title)`)
	if len(failed) != 4 {
		t.Errorf("%d failures are listed", len(failed))
	}
	b.click(`#executions a[title="` + all["thrown"].ID + `"]`)
	b.wait(`location.pathname === "/dashboard/execution/` + all["thrown"].ID +
		`" && !document.querySelector("#execution").hidden`)
}

// An open page shows a run while it runs, and its record when it has ended.
func TestDashboardIsLive(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.open(t, "/dashboard?window=15m")
	b.wait(ready)
	if nothing := b.text("#executions"); !strings.Contains(nothing, "No executions in this time") {
		t.Errorf("an empty list says %q", nothing)
	}
	if nothing := b.text("#c-throughput"); !strings.Contains(nothing, "Nothing in this time") {
		t.Errorf("an empty chart says %q", nothing)
	}
	if nothing := b.text("#k-p50"); nothing != "–" {
		t.Errorf("the latency of no executions is %q", nothing)
	}
	quick := s.execute(t, map[string]any{"code": "1 + 1"})
	b.wait(`document.querySelector('#executions a[title="` + quick.ID +
		`"]') && document.querySelector("#k-executions").textContent === "1"`)

	ctx, cancel := context.WithCancel(t.Context())
	hungUp := make(chan error)
	go func() { hungUp <- s.hold(ctx) }()
	b.wait(`document.querySelector("#k-running").textContent === "1" && ` +
		`document.querySelector("#running").textContent.includes("running")`)
	cancel()
	if err := <-hungUp; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	b.wait(`document.querySelector("#k-running").textContent === "0" && document.querySelector("#executions ` +
		`tr").textContent.includes("cancelled")`)
	if live := b.text("#live"); live != "Live" {
		t.Errorf("the page says that it is %q", live)
	}
	b.visit(eval[string](b, `new URL(document.querySelector("#executions tr a").href).pathname`))
	b.wait(`document.querySelector("#no-replay")?.textContent.includes("when the execution was cancelled")`)
	if eval[bool](b, `document.querySelector("#start-replay") !== null`) {
		t.Error("a cancelled execution can be replayed")
	}
}

// The filters are in the address: the page reads them from it, changes them there, and going back undoes a change.
func TestDashboardFilters(t *testing.T) {
	t.Parallel()
	s := serve(t)
	all := s.seeded(t)
	b := s.open(t, "/dashboard?window=6h&status=blocked")
	b.wait(ready)
	b.wait(`document.querySelectorAll("#executions a").length === 1 && document.querySelector("#executions a").title ` +
		`=== "` + all["blocked"].ID + `"`)
	b.wait(`document.querySelectorAll("select[name=policy] option").length === 5`)
	if got := eval[[]string](b, `[...document.querySelectorAll("#filters select")].map(s => s.value)`); strings.Join(got,
		" ") != "6h blocked " {
		t.Errorf("the controls show %q", got)
	}
	choose := func(name, value string) {
		eval[bool](b, `(() => { const c = document.querySelector("#filters").elements[`+quote(name)+`]; c.value = `+
			quote(value)+`; return c.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	}
	choose("status", "")
	choose("policy", "strict")
	b.wait(`document.querySelectorAll("#executions a").length === 2`)
	if path := b.path(); path != "/dashboard?window=6h&policy=strict" {
		t.Errorf("the address is %s", path)
	}
	choose("policy", "extended")
	b.wait(`document.querySelectorAll("#executions a").length === 1 && ` +
		`document.querySelector("#executions").textContent.includes("timeout")`)
	in(b, chromedp.NavigateBack())
	b.wait(`document.querySelectorAll("#executions a").length === 2 && ` +
		`document.querySelector("select[name=policy]").value === "strict"`)

	b.visit("/dashboard?window=nonsense")
	b.expect("400")
	b.wait(`document.querySelector("#trouble").textContent.includes("window")`)
	b.wait(`document.querySelector("#live").textContent === "Stopped"`)
}

// Older executions are shown page by page.
func TestDashboardOlder(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for range 30 {
		s.execute(t, map[string]any{"code": "1"}, "Cache-Control: no-store")
	}
	b := s.open(t, "/dashboard")
	b.wait(`document.querySelectorAll("#executions a").length === 25`)
	b.click("#more")
	b.wait(`document.querySelectorAll("#older a").length === 5 && document.querySelector("#more").hidden`)
	if n := eval[int](b,
		`new Set([...document.querySelectorAll("#executions a, #older a")].map(a => a.title)).size`); n != 30 {
		t.Errorf("%d executions are shown", n)
	}
}

// A chart can be read with the keyboard, and saved as a self-contained file.
func TestCharts(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.seeded(t)
	b := s.open(t, "/dashboard?window=15m")
	b.wait(ready)
	eval[bool](b, `document.querySelector("#c-throughput .drawing").focus(); true`)
	in(b, chromedp.KeyEvent(kb.End))
	b.wait(`/–/.test(document.querySelector("#c-throughput .readout").textContent)`)
	in(b, chromedp.KeyEvent(kb.Escape))
	b.wait(`document.querySelector("#c-throughput .readout").textContent === "Steps of 15 s"`)
	eval[bool](b, `(() => {
		window.kept = [];
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { blob.text().then(t => kept.push(t)); return make.call(URL, blob); };
		return true;
	})()`)
	b.click(`#c-throughput figcaption button`)
	b.wait(`kept.length === 1`)
	picture := eval[string](b, `kept[0]`)
	seen := map[string]int{}
	for tokens := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, picture)
		}
		if element, ok := token.(xml.StartElement); ok {
			seen[element.Name.Local]++
			for _, a := range element.Attr {
				if a.Name.Local == "class" || a.Name.Local == "style" {
					t.Errorf("<%s> has %s: it looks right in the page alone", element.Name.Local, a.Name.Local)
				}
			}
		}
	}
	if seen["svg"] != 1 || seen["title"] != 1 || seen["rect"] < 5 {
		t.Errorf("the file has %v, want 1 svg, 1 title and 5 rect or more\n%s", seen, picture)
	}
	if !strings.Contains(picture, `fill="rgb(`) {
		t.Errorf("the file has no colours\n%s", picture)
	}
}
