package jobs_test

import (
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
)

// A tenant whose receivers hang does not delay the callbacks of others.
func TestHangingReceivers(t *testing.T) { onEach(t, hangingReceiversOn) }

func hangingReceiversOn(t *testing.T, open opener) {
	hanging, release := make(chan struct{}, 100), make(chan struct{})
	q, c := open(&script{run: done, send: func(job execution.Job) jobs.Receipt {
		if job.Tenant == "hangs" {
			hanging <- struct{}{}
			<-release
		}
		return jobs.Receipt{Delivered: true}
	}}, 4)
	submit := func(n int, tenant string) {
		t.Helper()
		if err := q.Submit(
			t.Context(),
			execution.Job{
				ID: id(n), Tenant: tenant, Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting},
			},
		); err != nil {
			t.Fatal(err)
		}
	}
	told := func(j execution.Job) bool { return j.Callback.State == execution.CallbackDelivered }
	q.Start(t.Context())
	const most, more = 48, 2
	for n := range most + more {
		submit(n, "hangs")
		until(t, q, id(n), execution.Job.Ended)
	}
	for range most {
		<-hanging
	}
	submit(100, "other")
	until(t, q, id(100), told)
	close(release)
	for n := range most {
		until(t, q, id(n), told)
	}
	c.add(2 * time.Minute) // those for which there was no room
	for n := range more {
		until(t, q, id(most+n), told)
	}
}
