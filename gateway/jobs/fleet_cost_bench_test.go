package jobs_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/dynamostate/dynamotest"
	"github.com/airlock-run/airlock/infra/state/sqsqueue"
	"github.com/airlock-run/airlock/infra/state/sqsqueue/sqstest"
)

// Prices of us-east-1 on demand, in dollars for a million, as of 2025-01-01.
const (
	writeUnitPrice  = 0.625
	readUnitPrice   = 0.125
	sqsRequestPrice = 0.40
)

// uncountedWrites are the write units of a job that dynalite does not count or the benchmark does not see: of the
// index, one when the job is queued, two each when it is claimed and ends, and one when it is deleted; and of its
// deletion after seven days.
const uncountedWrites = 1 + 2 + 2 + 1 + 1

// A bill counts what passes through a proxy to a service of AWS.
type bill struct {
	requests, halfReads, writes atomic.Int64 // reads in halves of a unit
}

// proxy returns the endpoint of a proxy that asks DynamoDB what each request costs, and counts it.
func (m *bill) proxy(b *testing.B, endpoint string) string {
	b.Helper()
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.requests.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		_, operation, dynamo := strings.Cut(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
		if dynamo && len(body) > 2 {
			body = append([]byte(`{"ReturnConsumedCapacity":"TOTAL",`), body[1:]...)
		}
		out, err := http.NewRequestWithContext(r.Context(), r.Method, endpoint+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		out.Header = r.Header.Clone()
		in, err := client.Do(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer in.Body.Close()
		answer, err := io.ReadAll(in.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		m.count(operation, answer)
		for name, values := range in.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(in.StatusCode)
		_, _ = w.Write(answer) // a client that has left needs no answer
	}))
	b.Cleanup(server.Close)
	return server.URL
}

// count adds what an answer of DynamoDB says that it cost.
func (m *bill) count(operation string, answer []byte) {
	var cost struct {
		ConsumedCapacity struct{ CapacityUnits float64 }
	}
	if json.Unmarshal(answer, &cost) != nil {
		return // a failure, which costs nothing that is told
	}
	switch operation {
	case "GetItem", "Query":
		m.halfReads.Add(int64(2 * cost.ConsumedCapacity.CapacityUnits))
	case "PutItem", "UpdateItem", "DeleteItem":
		m.writes.Add(int64(cost.ConsumedCapacity.CapacityUnits))
	}
}

// reportDollars reports what a job cost.
func reportDollars(b *testing.B, table, queue *bill) {
	b.Helper()
	n := float64(b.N)
	writes, reads := float64(table.writes.Load())/n+uncountedWrites, float64(table.halfReads.Load())/2/n
	sent := float64(queue.requests.Load()) / n
	b.ReportMetric(float64(table.requests.Load())/n, "DynamoDB-requests/job")
	b.ReportMetric(writes, "WCU/job")
	b.ReportMetric(reads, "RCU/job")
	b.ReportMetric(sent, "SQS-requests/job")
	b.ReportMetric(writes*writeUnitPrice+reads*readUnitPrice+sent*sqsRequestPrice, "dollars/million")
}

// BenchmarkFleetDollars measures what a million jobs cost in a table, with a queue that wakes three gateways, by the
// requests that they send to stand-ins. Alarms, at most one a minute on Lambda, do not grow with the number of jobs.
func BenchmarkFleetDollars(b *testing.B) {
	table, err := dynamotest.Start()
	if err != nil {
		b.Fatal(err)
	}
	queue, err := sqstest.Start()
	if err != nil {
		b.Fatal(err)
	}
	if table == nil || queue == nil {
		b.Skip("dynalite or fauxqs is not installed; make bench-fleet does that")
	}
	defer table.Stop()
	defer queue.Stop()
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "tester-secret",
		"AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"} {
		b.Setenv(name, value)
	}
	contents, err := s3test.Start()
	if err != nil {
		b.Fatal(err)
	}
	defer contents.Stop()
	tables, queues := &bill{}, &bill{}
	endpoint, waking := tables.proxy(b, table.Endpoint), queues.proxy(b, queue.Endpoint)
	url := "dynamodb://" + table.Table(b) + "?contents=s3://" + contents.Bucket(b) + "/contents"
	jobsURL, _ := queue.Queue(b, 5)
	callbacksURL, _ := queue.Queue(b, 5)
	waker := func(url string) *sqsqueue.Queue {
		q, err := sqsqueue.Open(b.Context(), url, sqsqueue.Config{Endpoint: waking})
		if err != nil {
			b.Fatal(err)
		}
		return q
	}
	fleetOf(b, 3, func() (jobs.Store, func() error) {
		s, err := dynamostate.Open(b.Context(), url, dynamostate.Config{Access: dynamostate.Access{
			Endpoint: endpoint, Objects: s3objects.Access{Endpoint: contents.Endpoint}}})
		if err != nil {
			b.Fatal(err)
		}
		return s, s.Close
	}, nil, jobs.Queues{Jobs: waker(jobsURL), Callbacks: waker(callbacksURL)})
	reportDollars(b, tables, queues)
}
