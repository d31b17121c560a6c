package endtoend_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/sandbox"
)

// parkedLines is a script of ten lines with an approval among them. Its last console call is its first instruction
// after the wait.
const parkedLines = `const rows = [];
class Order { constructor(id, total) { this.id = id; this.total = total } get big() { return this.total > 50 } }
for (let i = 0; i < 20; i++) rows.push(new Order(i, i * 7));
const big = rows.filter((o) => o.big);
const names = new Map(big.map((o) => [o.id, 'order ' + o.id]));
const answer = await airlock.approve({title: "Refund " + big.length});
console.log('first');
const sum = big.reduce((s, o) => s + o.total, 0);
const out = {sum, answer, names: [...names.values()].length, r: typeof Math.random()};
return out`

// BenchmarkParkFolder reports the time from reading a paused execution in a state folder to the guest's first
// instruction: reading the job, decrypting its snapshot and restoring the guest.
func BenchmarkParkFolder(b *testing.B) {
	ctx := b.Context()
	state, err := sqlitestate.Open(b.TempDir(), sqlitestate.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := state.Close(); err != nil {
			b.Error(err)
		}
	})
	engine, err := replaying()
	if err != nil {
		b.Fatal(err)
	}
	keys, err := waits.ParseKeys(waits.NewKey("k"))
	if err != nil {
		b.Fatal(err)
	}
	script := sandbox.Script{Code: parkedLines}
	grants := sandbox.Grants{Waits: sandbox.Waits{MaxPending: 1}}
	r, err := engine.Run(ctx, script, grants)
	if err != nil || r.Parked == nil {
		b.Fatal(err, r.Error)
	}
	job := execution.Job{ID: "exec_01JD5Z6Q8V0000000000000000", Tenant: "t", Status: execution.Running,
		Request: execution.Request{Code: parkedLines}, ReceivedAt: time.Now()}
	waits.Park(&job, execution.Result{Status: execution.Paused,
		Environment: execution.Environment{EngineBuild: r.EngineBuild, Policy: "standard"}},
		time.Hour, time.Now())
	if job.Snapshot, err = keys.Seal(job, r.Parked.Snapshot); err != nil {
		b.Fatal(err)
	}
	if err := state.Submit(ctx, job); err != nil {
		b.Fatal(err)
	}
	var began time.Time
	var firsts []time.Duration
	grants.OnLog = func(sandbox.Log) { firsts = append(firsts, time.Since(began)) }
	answers := []sandbox.Answer{{Seq: 1, Value: json.RawMessage("true")}}
	for b.Loop() {
		began = time.Now()
		found, err := state.Job(ctx, job.ID)
		if err != nil {
			b.Fatal(err)
		}
		found.Wait.Segment++ // as the queue does when it is answered
		snapshot, err := keys.Open(found, found.Snapshot)
		if err != nil {
			b.Fatal(err)
		}
		if r, err := engine.Resume(ctx, snapshot, answers, script, grants); err != nil || !r.Completed() {
			b.Fatal(err, r.Error)
		}
	}
	slices.Sort(firsts)
	b.ReportMetric(float64(firsts[len(firsts)/2])/float64(time.Millisecond), "ms-to-first-instruction")
}
