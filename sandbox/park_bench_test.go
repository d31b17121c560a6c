package sandbox_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// parkedLines is a script of ten lines with an approval among them. Its last console call is its first instruction
// after the wait.
const parkedLines = `const rows = [];
class Order { constructor(id, total) { this.id = id; this.total = total } get big() { return this.total > 50 } }
for (let i = 0; i < 20; i++) rows.push(new Order(i, i * 7));
const big = rows.filter((o) => o.big);
const names = new Map(big.map((o) => [o.id, 'order ' + o.id]));
const answer = await payments.refund({order: big.length});
console.log('first');
const sum = big.reduce((s, o) => s + o.total, 0);
const out = {sum, answer, names: [...names.values()].length, r: typeof Math.random()};
return out`

// BenchmarkPark reports what waiting costs: the size of a snapshot, the time that a run takes beyond the same run
// without a wait, and the time from a call of Resume to the guest's first instruction.
func BenchmarkPark(b *testing.B) {
	e := newEngine(b)
	b.Run("park", func(b *testing.B) {
		size := 0
		plain := waitGrants
		plain.Tools = []sandbox.Tool{refund}
		plain.Tools[0].Approval = false
		var parked, unparked []time.Duration
		for b.Loop() {
			began := time.Now()
			r, err := e.Run(b.Context(), sandbox.Script{Code: parkedLines}, waitGrants)
			parked = append(parked, time.Since(began))
			if err != nil || r.Parked == nil {
				b.Fatal(err, r.Error)
			}
			size = len(r.Parked.Snapshot)
			began = time.Now()
			if r, err = e.Run(b.Context(), sandbox.Script{Code: parkedLines}, plain); err != nil || !r.Completed() {
				b.Fatal(err, r.Error)
			}
			unparked = append(unparked, time.Since(began))
		}
		b.ReportMetric(float64(size)/1024, "KiB/snapshot")
		b.ReportMetric(ms(median(parked)-median(unparked)), "ms-beyond-a-run")
		b.ReportMetric(ms(median(parked)), "ms/run")
	})
	b.Run("resume", func(b *testing.B) {
		grants := waitGrants
		script := sandbox.Script{Code: parkedLines}
		r := run(b, e, script, grants)
		var began time.Time
		var firsts []time.Duration
		grants.OnLog = func(sandbox.Log) { firsts = append(firsts, time.Since(began)) }
		answer := sandbox.Answer{Seq: 1, Value: json.RawMessage(`{"ok": true}`)}
		for b.Loop() {
			began = time.Now()
			if r := resume(b, e, r, script, grants, answer); !r.Completed() {
				b.Fatal(r.Error)
			}
		}
		b.ReportMetric(ms(median(firsts)), "ms-to-first-instruction")
	})
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// BenchmarkParkSession compares a step of a session with a fresh execution of the same text. Each text is new, as those
// of people and models are.
func BenchmarkParkSession(b *testing.B) {
	e := newEngine(b)
	for name, code := range map[string]string{
		"ten lines": `const rows = [];
class Order { constructor(id, total) { this.id = id; this.total = total } get big() { return this.total > 50 } }
for (let i = 0; i < 200; i++) rows.push(new Order(i, i * 7));
const big = rows.filter((o) => o.big);
const names = new Map(big.map((o) => [o.id, 'order ' + o.id]));
console.log(names.size);
const sum = big.reduce((s, o) => s + o.total, 0);
const text = JSON.stringify(rows), again = JSON.parse(text);
again.sort((a, b) => b.total - a.total);
({sum, names: names.size, first: again[0].id})`,
		"one line": "const a = 1; a + 1",
	} {
		b.Run(name, func(b *testing.B) {
			from := steps(b, e, sandbox.Grants{}, "const before = 1; before").Snapshot
			var step, fresh []time.Duration
			for n := 0; b.Loop(); n++ {
				code := fmt.Sprintf("/* %d */ %s", n, code)
				began := time.Now()
				r, err := e.Step(b.Context(), from, sandbox.Script{Code: code}, sandbox.Grants{})
				step = append(step, time.Since(began))
				if err != nil || r.Snapshot == nil {
					b.Fatal(err, r.Error)
				}
				began = time.Now()
				if r, err = e.Run(b.Context(), sandbox.Script{Code: code}, sandbox.Grants{}); err != nil || r.Error != "" {
					b.Fatal(err, r.Error)
				}
				fresh = append(fresh, time.Since(began))
			}
			b.ReportMetric(ms(median(step)), "ms/step")
			b.ReportMetric(ms(median(fresh)), "ms/run")
			b.ReportMetric(float64(median(step))/float64(median(fresh)), "ratio")
		})
	}
}
