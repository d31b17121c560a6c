package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/scan"
	"github.com/airlock-run/airlock/policy/threat"
)

// ownTime is the processor time that one request may cost the gateway's own process.
const ownTime = slower * 50 * time.Millisecond

// farReader stands in for scan workers: this process only hands a text over and reads a long response.
type farReader struct{ answer []byte }

func newFarReader(t testing.TB) farReader {
	t.Helper()
	var found scan.Result
	for i := range 100 {
		found.Analysis.Findings = append(found.Analysis.Findings, threat.Finding{
			Category: threat.Unanalysed, Message: strings.Repeat("m", 80), Excerpt: strings.Repeat("é", 80), Line: i, Column: 1,
		})
	}
	for i := range 30_000 {
		found.Telemetry.AccessedIdentifiers = append(found.Telemetry.AccessedIdentifiers, "v"+strconv.Itoa(i))
	}
	answer, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	return farReader{answer}
}

func (f farReader) Scan(_ context.Context, t scan.Input) (found scan.Result, err error) {
	if _, err := t.Parts(); err != nil {
		return found, err
	}
	return scan.DecodeResult(f.answer)
}

// encodedEcho does what an invoker does before it sends an invocation, and returns the input.
func encodedEcho(
	ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
) (execution.Reply, error) {
	if _, err := inv.Encode(); err != nil {
		return execution.Reply{}, err
	}
	return echo(ctx, inv, onLog)
}

func costServer(t testing.TB) *served {
	t.Helper()
	s := kept(t, options{reader: newFarReader(t), invoke: encodedEcho})
	s.do(t, "PUT", "/api/functions/g", `{"code":"input"}`)
	return s
}

// codeEndpoints are the endpoints that take code, with what a body needs around the members under test.
var codeEndpoints = []struct{ method, path string }{
	{"POST", "/api/execute"}, {"POST", "/api/execute/stream"}, {"POST", "/api/analyze"}, {"PUT", "/api/functions/f"},
	{"POST", "/api/functions/g/invoke"},
}

// cost returns the processor time of this process for one request, at the cheapest of a few. The test's own side is
// included, but not the transport of a body of more than 1 MiB.
func (s *served) cost(t testing.TB, method, path, body string, headers ...string) time.Duration {
	t.Helper()
	took := s.spent(t, method, path, body, "application/json", headers...)
	if took > ownTime {
		took -= s.transport(t, body)
	}
	return took
}

// transport returns the processor time for receiving a body of more than 1 MiB, and 0 for a shorter one.
func (s *served) transport(t testing.TB, body string) time.Duration {
	t.Helper()
	if len(body) <= 1<<20 {
		return 0
	}
	return s.spent(t, "POST", "/api/execute", body, "text/plain") // it is read, and refused
}

// spent returns the processor time of a request, at the cheapest of a few.
func (s *served) spent(t testing.TB, method, path, body, kind string, headers ...string) time.Duration {
	t.Helper()
	best := time.Hour
	for tries := 0; tries < 3 && best >= ownTime; tries++ {
		took, _ := s.once(t, method, path, body, kind, headers...)
		best = min(best, took)
	}
	return best
}

// once returns the processor time of one request, and its status.
func (s *served) once(
	t testing.TB, method, path, body, kind string, headers ...string,
) (took time.Duration, status int) {
	t.Helper()
	lines := ""
	for _, h := range headers {
		lines += h + "\r\n"
	}
	request := fmt.Appendf(nil,
		"%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: %s\r\n%sContent-Length: "+
			"%d\r\n\r\n%s",
		method, path, kind, lines, len(body), body,
	)
	before := processorTime()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = conn.Write(request) }() // a refusal may come before all is sent
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	_ = conn.Close()
	if err != nil || answer.StatusCode == 500 {
		t.Fatalf("%s %s: %d %v", method, path, answer.StatusCode, err)
	}
	return processorTime() - before, answer.StatusCode
}

func processorTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// bounded checks the processor time of a request, which may cost ownTime.
func (s *served) bounded(t testing.TB, method, path, body string, headers ...string) {
	t.Helper()
	what := fmt.Sprintf("%s %s with %.60q… of %d bytes", method, path, body, len(body))
	s.within(t, what, ownTime, len(body), func() time.Duration { return s.cost(t, method, path, body, headers...) })
}

// within checks a processor time: it may be most or, on a slow or busy machine, four times what a request with an
// array of numbers of size bytes takes of ownTime. The array has at most 1 MiB; for a request of more than that, it is
// eight times. Work that is not linear takes far more. Both are repeated if the processor is busy: the cheapest try
// counts, and the request of numbers that took most.
func (s *served) within(t testing.TB, what string, most time.Duration, size int, cost func() time.Duration) {
	t.Helper()
	took, plain, times := cost(), time.Duration(0), time.Duration(4)
	if size > 1<<20 {
		times = 8
	}
	for tries := 0; took > most; tries++ {
		numbers := strings.Repeat(",0", max(min(size, 1<<20)/2-20, 0))
		plain = max(plain, s.cost(t, "POST", "/api/execute", `{"code":"1","input":[0`+numbers+`]}`))
		if took <= times*plain*(most/ownTime) {
			return
		}
		if tries == 5 {
			t.Errorf("%s: %v of processor time; a request of numbers takes %v", what, took, plain)
			return
		}
		took = min(took, cost())
	}
}

// costlyRequests are bodies within the default limits whose shape costs parsers, decoders or encoders more than their
// size suggests.
func costlyRequests() map[string]string {
	const full, most = 1<<20 - 400, 16<<20 - 400
	repeat := strings.Repeat
	written := func(v any) string {
		b, err := encodeJSON(v)
		if err != nil {
			panic(err) // strings always encode
		}
		return b
	}
	file := func(text string) string { return `{"code":"1","files":{"a.js":` + text + `}}` }
	code := func(code, language string) string { return written(map[string]any{"code": code, "language": language}) }
	four := func(text string) string { // files of almost 4 MiB
		text = repeat(text, most/4/len(text)-20)
		return `{"code":"1","files":{"a.js":"` + text + `","b.js":"` + text + `","c.js":"` + text + `","d.js":"` + text +
			`"}}`
	}
	files := func(n int, name func(int) string, text string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,%q:"%s"`, name(i), text)
		}
		return `{"code":"1","files":{` + b.String()[1:] + "}}"
	}
	commas := "1" + repeat(",1", 20_000)
	var names strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&names, `"%x":0,`, i)
	}
	object := "{" + strings.TrimSuffix(names.String(), ",") + "}"
	return map[string]string{
		"line separators": code(repeat("a\u2028", 65_500), "javascript"),
		"commas":          code("1"+repeat(",1", 40_000), "javascript"),
		"six files of commas": written(
			map[string]any{
				"code": "1",
				"files": map[string]string{
					"a.js": commas, "b.js": commas, "c.js": commas, "d.js": commas, "e.js": commas, "f.js": commas,
				},
			},
		),
		"commas in TypeScript":    code("1"+repeat(",1", 16_000), "typescript"),
		"operators in a template": code("[`${"+repeat("+/*c*/", 40_000)+"1}`]", "javascript"),
		"private names":           code("class A{"+repeat("#p\n", 40_000)+"}", "javascript"),
		"the most cheap tokens":   code("1"+repeat(",1", 990), "javascript"),
		"cheap private names":     code("class A{"+repeat("#p\n", 990)+"}", "javascript"),
		"cheap and growing":       code("s='ab';"+repeat("s+=s;", 490), "javascript"),
		"cheap strings of code":   code(repeat("eval('eval(1)');", 330), "javascript"),
		"cheap and nested":        code(repeat("[", 90)+repeat("a=>", 400)+"1"+repeat("]", 90), "javascript"),
		"numbers":                 `{"code":"1","input":[0` + repeat(",0", full/2) + `]}`,
		"names":                   `{"code":"1","input":` + object + `}`,
		"a name twice":            `{"code":"1","input":{"1":0,` + object[1:] + `}`,
		"names in context":        `{"code":"1","context":{"a":` + object + `}}`,
		"escapes":                 `{"code":"1","input":"` + repeat(`\u0001`, full/6) + `"}`,
		"markup":                  `{"code":"1","input":"` + repeat(`<&>`, full/3) + `"}`,
		"line ends":               `{"code":"1","input":"` + repeat("\u2028", full/3) + `"}`,
		"members":                 object,
		"the longest code":        code(repeat("f(1234, 'text', a.b);\n", 4<<20/22), "javascript"),
		"the longest line":        code(repeat("f(1234, 'text', a.b);", 4<<20/21), "javascript"),
		"the longest files": written(map[string]any{"code": "1", "files": map[string]string{
			"a.js": repeat("f(1234, 'text', a.b);", 4<<20/22), "b.js": repeat("x", 4<<20-64),
			"c.js": repeat("y", 4<<20-64), "d.js": repeat("z", 3<<20)}}),
		"the longest lines":             file(`"` + repeat(`f(1234, 'text');\n`, most/18) + `"`),
		"the longest quotes":            file(`"` + repeat(`\"`, full) + repeat("x", most-2*full) + `"`),
		"the longest accents":           file(`"` + repeat("é", most/2) + `"`),
		"the longest letters":           file(`"` + repeat("aé\u2028😀", most/10) + `"`),
		"the longest bytes":             file(`{"base64":"` + repeat("/+8A", most/4) + `"}`),
		"the longest control bytes":     file(`{"base64":"` + repeat("AAAA", most/4) + `"}`),
		"four files of letters":         four("aé"),
		"four files of markup":          four("<"),
		"four files of signs":           four("😀"),
		"four files of line separators": four("\u2028"),
		"a thousand files": files(1000, func(n int) string { return fmt.Sprintf("%s%d.js", repeat("é", n%30), n) },
			repeat("é", most/2/1000-60)),
		"ten thousand files": files(10_000, func(n int) string { return fmt.Sprint(n) }, "é"),
		"a thousand files of control characters": files(1000, func(n int) string { return fmt.Sprint(n) },
			repeat(`\u0001`, 150)),
		"the longest error":     file(`"` + repeat("é", most/2) + `\x"`),
		"the longest escapes":   `{"code":"` + repeat(`\u0001\n`+repeat("x", 16), 150_000) + `"}`,
		"the longest lone file": `{"files":{"a.js":"` + repeat("x", most) + `"}}`,
		"the longest numbers":   `{"code":"1","input":[0` + repeat(",0", most/2) + `]}`,
		"the longest names":     `{"code":"1","input":` + strings.Repeat(object, 12) + `}`,
	}
}

func encodeJSON(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.String(), err
}

// forEndpoint adapts a body to an endpoint: a call has no code of its own.
func forEndpoint(path, body string) string {
	if strings.HasSuffix(path, "/invoke") {
		return strings.Replace(body, `"code":"1",`, "", 1)
	}
	return body
}

// TestOwnCosts checks at every endpoint the processor time that a request may cost the gateway's own process.
func TestOwnCosts(t *testing.T) {
	s := costServer(t)
	for _, body := range costlyRequests() {
		for _, endpoint := range codeEndpoints {
			s.bounded(t, endpoint.method, endpoint.path, forEndpoint(endpoint.path, body))
		}
	}
}

// BenchmarkOwnCosts reports the worst cases: processor time of the gateway's own process by endpoint and body.
func BenchmarkOwnCosts(b *testing.B) {
	s := costServer(b)
	for name, body := range costlyRequests() {
		for _, endpoint := range codeEndpoints {
			b.Run(strings.TrimPrefix(endpoint.path, "/api/")+"/"+name, func(b *testing.B) {
				total := time.Duration(0)
				for b.Loop() {
					total += s.cost(b, endpoint.method, endpoint.path, forEndpoint(endpoint.path, body))
				}
				b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "own-cpu-ms/op")
			})
		}
	}
}

// FuzzOwnCosts searches for processor time, not for crashes: fragments, repeated to any size, as code, as a file, as
// input or as members, at any endpoint.
func FuzzOwnCosts(f *testing.F) {
	for _, fragment := range []string{
		"a\u2028", ",1", "+/*c*/", "#p\n", "`${", "eval('1');", "a=>", "s+=s;", "(", "{a:", "/a/;", "\\u0061", "new ", "x?.",
		"class A{", "async ", "import a from 'b';", "<a>", "é", "'", "//\n", "let [a]=",
	} {
		for place := range uint8(5) {
			f.Add("1", fragment, "", uint16(900), place, false)
		}
		f.Add("[`", fragment, "`]", uint16(60_000), uint8(0), true)
	}
	for _, fragment := range []string{`"`, `\`, "\x01", "<&>", "\u2028", "[],", "😀"} { // the function echoes them
		f.Add("", fragment, "", uint16(60_000), uint8(2), false)
		f.Add("", fragment, "", uint16(60_999), uint8(4), false)
	}
	s := costServer(f)
	f.Fuzz(func(t *testing.T, before, fragment, after string, times uint16, place uint8, typed bool) {
		most := max(1, (200<<10)/max(len(fragment), 1))
		text := before + strings.Repeat(fragment, min(int(times), most)) + after
		if len(text) > 250<<10 {
			return
		}
		language := "javascript"
		if typed {
			language = "typescript"
		}
		request := map[string]any{"code": text, "language": language}
		switch place % 5 {
		case 1:
			request["code"], request["files"] = "1", map[string]string{"a.js": text, "b.ts": text}
		case 2:
			request["code"], request["input"] = "1", text
		case 3:
			request["code"], request["context"] = "1", map[string]any{"a": strings.Split(text, ",")}
		case 4:
			files := map[string]string{}
			for n := range 1 + int(times)%1000 {
				files[fmt.Sprint(n, fragment)] = text[:min(len(text), 200)]
			}
			request["code"], request["files"] = "1", files
		}
		body, err := encodeJSON(request)
		if err != nil {
			t.Fatal(err)
		}
		for _, endpoint := range codeEndpoints[:4] {
			s.bounded(t, endpoint.method, endpoint.path, body)
		}
		headers := append([]string{"Mcp-Method: tools/call", "Mcp-Name: execute_code"}, mcpHeaders...)
		s.bounded(t, "POST", "/mcp", messageFor("execute_code", body), headers...)
	})
}
