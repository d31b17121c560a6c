package main

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// A dimension is one size of a request, or of what the gateway keeps, and how requests look at each of its sizes.
type dimension struct {
	name  string
	unit  string
	sizes []int
	// grow brings what the gateway keeps to a size; nil if the size is one of the request.
	grow func(s *scaled, size int)
	// body returns the n-th request, whose text no cache has seen.
	body func(size, n int) string
	// path is where it goes; "" is /api/execute. credential returns who sends the n-th.
	path       string
	credential func(s *scaled, size, n int) string
}

// scaled is a gateway whose costs are measured.
type scaled struct {
	*program
	b       *testing.B
	kept    map[string]int // how much of each dimension it keeps
	tokens  []string
	counter int
}

// dimensions are what executions may have more of, from ordinary sizes to the largest.
func dimensions() []dimension {
	repeated := func(count int, format string) string {
		var out strings.Builder
		for i := range count {
			fmt.Fprintf(&out, format, i)
		}
		return out.String()
	}
	execute := func(code, rest string) string {
		return fmt.Sprintf(`{"policy":"agent","code":%s%s}`, quoted(code), rest)
	}
	small := func(_, n int) string { return execute(fmt.Sprintf("input * %d", n), `,"input":7`) }
	return []dimension{
		{name: "code", unit: "bytes", sizes: []int{1 << 10, 16 << 10, 256 << 10, 2 << 20}, body: func(size, n int) string {
			return execute(fmt.Sprintf("const n = %d;\n", n)+
				repeated(size/64, "function f%08d(a, b) { return a.length + b * 2 + n; } // line\n")+"f00000001('a', 1)", "")
		}},
		{name: "input", unit: "bytes", sizes: []int{1 << 10, 16 << 10, 256 << 10, 900 << 10}, body: func(size, n int) string {
			return execute(fmt.Sprintf("input.length + %d", n),
				`,"input":[`+strings.TrimSuffix(repeated(size/32, `{"id":1%08d,"name":"someone"},`), ",")+`]`)
		}},
		{name: "logs", unit: "lines", sizes: []int{10, 100, 1000, 10_000}, body: func(size, n int) string {
			return execute(fmt.Sprintf("for (let i = 0; i < %d; i++) console.log('line', i, %d)", size, n), "")
		}},
		{name: "files", unit: "files", sizes: []int{1, 10, 100}, body: func(size, n int) string {
			return execute(repeated(size, "import { v as v%[1]d } from './m%[1]d.js';\n")+fmt.Sprintf("v0 + %d", n),
				`,"files":{`+strings.TrimSuffix(repeated(size, `"m%[1]d.js":"export const v = %[1]d;",`), ",")+`}`)
		}},
		{name: "result", unit: "bytes", sizes: []int{1 << 10, 16 << 10, 256 << 10}, body: func(size, n int) string {
			return execute(fmt.Sprintf("'%d ' + 'x'.repeat(%d)", n, size), "")
		}},
		{name: "records", unit: "records", sizes: []int{1000, 4000, 16_000}, body: small, grow: (*scaled).record},
		{name: "functions", unit: "functions", sizes: []int{10, 100, 1000}, path: "/api/functions/f1/invoke",
			body: func(_, n int) string { return fmt.Sprintf(`{"input":%d}`, n) }, grow: (*scaled).save},
		{name: "tenants", unit: "tenants", sizes: []int{1, 10, 100}, body: small, grow: (*scaled).settle,
			credential: func(s *scaled, size, n int) string { return s.tokens[n%size] }},
	}
}

// BenchmarkScale reports what an execution costs against the size of one thing: the processor time of the gateway with
// its function processes and scan workers, the median time of a request, and the exponent by which the processor time
// grew since the size before: 1 is linear.
func BenchmarkScale(b *testing.B) {
	s := &scaled{b: b, kept: map[string]int{}, program: start(b, "JWT_SECRET="+secret,
		"RATE_LIMIT_MAX_REQUESTS=100000000", "FUNCTION_PROCESSES=2", "LOG_LEVEL=warn", "AIRLOCK_STATE=file://"+b.TempDir())}
	s.token("t0")
	for _, d := range dimensions() {
		before, beforeSize := 0.0, 0
		for _, size := range d.sizes {
			if d.grow != nil {
				d.grow(s, size)
			}
			cpu := 0.0
			b.Run(fmt.Sprintf("%s/%d%s", d.name, size, d.unit), func(b *testing.B) {
				for range 3 {
					s.request(b, d, size)
				}
				var took []float64
				began := s.processorTime(b)
				for b.Loop() {
					took = append(took, float64(s.request(b, d, size).Microseconds())/1000)
				}
				cpu = 1000 * (s.processorTime(b) - began) / float64(len(took))
				slices.Sort(took)
				b.ReportMetric(cpu, "cpu-ms")
				b.ReportMetric(took[len(took)/2], "p50-ms")
				if beforeSize > 0 {
					b.ReportMetric(math.Log(cpu/before)/math.Log(float64(size)/float64(beforeSize)), "exponent")
				}
			})
			before, beforeSize = cpu, size
		}
	}
}

// request sends the next request of a dimension and returns the time until its response was read.
func (s *scaled) request(b *testing.B, d dimension, size int) time.Duration {
	b.Helper()
	s.counter++
	credential := s.tokens[0]
	if d.credential != nil {
		credential = d.credential(s, size, s.counter)
	}
	path := d.path
	if path == "" {
		path = "/api/execute"
	}
	body := d.body(size, s.counter)
	began := time.Now()
	s.must(b, "POST", path, credential, body)
	return time.Since(began)
}

// must sends a request that succeeds.
func (s *scaled) must(b *testing.B, method, path, credential, body string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Cache-Control", "no-store")
	r.Header.Set("Authorization", credential)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 || strings.Contains(string(text[:min(len(text), 200)]), `"status":"error"`) {
		b.Fatalf("%s %s: %d %.400s %v", method, path, res.StatusCode, text, err)
	}
}

// token adds the credential of a tenant.
func (s *scaled) token(tenant string) {
	code, out, errs := command(s.b, env("JWT_SECRET="+secret), "token", "--sub", "caller", "--tenant", tenant,
		"--scope", "execute functions")
	if code != 0 {
		s.b.Fatal(errs)
	}
	s.tokens = append(s.tokens, "Bearer "+strings.TrimSpace(out))
}

func (s *scaled) settle(tenants int) {
	for n := len(s.tokens); n < tenants; n++ {
		s.token(fmt.Sprintf("t%d", n))
	}
}

func (s *scaled) record(records int) {
	for ; s.kept["records"] < records; s.kept["records"]++ {
		s.must(s.b, "POST", "/api/execute", s.tokens[0], `{"code":"1"}`)
	}
}

func (s *scaled) save(functions int) {
	for ; s.kept["functions"] < functions; s.kept["functions"]++ {
		n := s.kept["functions"]
		s.must(s.b, "PUT", fmt.Sprintf("/api/functions/f%d", n), s.tokens[0],
			fmt.Sprintf(`{"code":"export default (n) => n + %d"}`, n))
		s.must(s.b, "POST", fmt.Sprintf("/api/functions/f%d/invoke", n), s.tokens[0], `{"input":1}`)
	}
}

// processorTime returns the seconds that the gateway and its children have had, those that ended included.
func (p *program) processorTime(b *testing.B) float64 {
	all, err := procfs.AllProcs()
	if err != nil {
		b.Skip("the processor time of processes cannot be read here: ", err)
	}
	parents := map[int]int{}
	times := map[int]float64{}
	for _, one := range all {
		stat, err := one.Stat()
		if err != nil {
			continue // it has ended
		}
		parents[one.PID] = stat.PPID
		times[one.PID] = stat.CPUTime() + float64(stat.CUTime+stat.CSTime)/100 // USER_HZ
	}
	sum := 0.0
	for pid, time := range times {
		for at := pid; at != 0; at = parents[at] {
			if at == p.Process.Pid {
				sum += time
				break
			}
		}
	}
	return sum
}
