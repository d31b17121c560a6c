package share_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// A job is decoded as it was encoded, and what it is kept in has the size of the values in it.
func TestEncodeJobs(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		`"` + strings.Repeat("<&>\u2028", 10_000) + `"`, `"` + strings.Repeat(`\"`, 10_000) + `"`, `"\u0000\ud83d\ude00"`,
		`[1e400,-0,1.50,` + strings.Repeat("{},", 10_000) + `null]`,
	} {
		job := execution.Job{ID: "exec_1", Tenant: "<&>", ReceivedAt: time.Unix(1, 5).UTC(),
			Callback: &execution.Callback{URL: "https://a.example/?a=1&b=2"}}
		job.Wait = &execution.Wait{Pending: []execution.Pending{{Answer: &execution.Answer{Value: json.RawMessage(value)}}}}
		text, err := share.Encode(job)
		if err != nil {
			t.Fatal(err)
		}
		if most := len(value) + 2000; len(text) > most {
			t.Errorf("%.20s: %d bytes, want at most %d", value, len(text), most)
		}
		var got execution.Job
		if err := share.Decode(text, &got); err != nil || !reflect.DeepEqual(got, job) {
			t.Errorf("%.20s: %v, or another job", value, err)
		}
		old, err := json.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		var same execution.Job
		if err := share.Decode(old, &same); err != nil || same.ID != job.ID {
			t.Errorf("%.20s: what older versions stored: %v", value, err)
		}
	}
}
