//go:build linux

package mcptools_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/infra/mcptools"
)

// A repeated is what the server that repeats writes: a line of its own, if there is one, and the rest of its answer
// behind the ID, with Each so many times, and a comma between two.
type repeated struct {
	Line   string `json:"line,omitempty"`
	Before string `json:"before"`
	Each   string `json:"each"`
	Times  int    `json:"times"`
	After  string `json:"after"`
}

func (r repeated) text() string { return r.Before + strings.Repeat(","+r.Each, r.Times)[1:] + r.After }

// params are those of the methods of the protocol that name the answer which is wanted.
func (r repeated) params(t testing.TB, method string) json.RawMessage {
	t.Helper()
	of := json.RawMessage(encoded(t, r))
	text := encoded(t, string(of))
	switch method {
	case "resources/read":
		return json.RawMessage(`{"uri":` + text + "}")
	case "prompts/get":
		return json.RawMessage(`{"name":` + text + "}")
	case "t0":
		return of
	}
	return json.RawMessage(`{"cursor":` + text + "}")
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// offersOfRepeater is how many tools, resources, templates and prompts the server that repeats has, each in one list of
// 400 KB.
const offersOfRepeater = 500

// repeatAnswers is the server that repeats.
func repeatAnswers() int {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				URI, Cursor, Name string
				Arguments         json.RawMessage
			} `json:"params"`
		}
		if json.Unmarshal(line, &asked) != nil {
			return 1
		}
		if asked.ID == nil {
			continue
		}
		answer, own := "", repeated{}
		many := func(member, entry string) string {
			var list []string
			for i := range offersOfRepeater {
				list = append(list, fmt.Sprintf(entry, i)+`"description":"`+strings.Repeat("x", 800)+`"}`)
			}
			return `"result":{"ttlMs":60000,"` + member + `":[` + strings.Join(list, ",") + "]}}"
		}
		p := asked.Params
		wanted := p.URI + p.Cursor + p.Name
		switch {
		case asked.Method == "server/discover":
			answer = `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],` +
				`"capabilities":{"tools":{},"resources":{},"prompts":{}}}}`
		case asked.Method == "tools/call":
			wanted = string(p.Arguments)
		case wanted != "":
		case asked.Method == "tools/list":
			answer = many("tools", `{"name":"t%d","inputSchema":{"type":"object"},`)
		case asked.Method == "resources/list":
			answer = many("resources", `{"uri":"x:%d","name":"r",`)
		case asked.Method == "resources/templates/list":
			answer = many("resourceTemplates", `{"uriTemplate":"x:%d/{a}","name":"r",`)
		case asked.Method == "prompts/list":
			answer = many("prompts", `{"name":"p%d",`)
		default:
			answer = `"error":{"code":-32601,"message":"there is no such method"}}`
		}
		if answer == "" {
			if json.Unmarshal([]byte(wanted), &own) != nil {
				return 1
			}
			answer = own.text()
		}
		if own.Line != "" {
			fmt.Println(own.Line)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s`+"\n", asked.ID, answer)
	}
}

// repeater opens a catalogue with the server that repeats.
func repeater(t testing.TB) *mcptools.Catalogue {
	t.Helper()
	c := local(t, "that repeats", "")
	if err := c.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// Long lists are listed whole, and code can list them again, however long the server allows clients to keep them.
func TestLongLists(t *testing.T) {
	t.Parallel()
	c := repeater(t)
	const methods = 5
	if tools := c.Tools(); len(tools) != offersOfRepeater+methods || len(tools[1].Description) != 800 {
		t.Errorf("%d tools", len(tools))
	}
	offers := c.Offers()
	if len(offers) != 1 {
		t.Fatalf("%d offers", len(offers))
	}
	for kind, n := range map[string]int{
		"resources": len(offers[0].Resources), "templates": len(offers[0].Templates), "prompts": len(offers[0].Prompts),
	} {
		if n != offersOfRepeater {
			t.Errorf("%d %s", n, kind)
		}
	}
	for _, method := range []string{"resources/list", "resources/templates/list", "prompts/list"} {
		for range 2 {
			got, err := c.Call(t.Context(), "a:"+method, json.RawMessage("{}"), anySize)
			if n := strings.Count(string(got), `"description"`); err != nil || n != offersOfRepeater {
				t.Errorf("%s: %d entries, %v", method, n, err)
			}
		}
	}
}

// results are answers of the methods that read resources and prompts, with an entry of each.
var results = map[string]struct {
	method, member, each string
	as                   func() any
}{
	"texts": {"resources/read", "contents", `{"uri":"x:","mimeType":"a/b","text":"é\n<\u00e9>","_meta":{"a":[1]}}`,
		func() any { return &sdk.ReadResourceResult{} }},
	"bytes": {"resources/read", "contents", `{"uri":"x:","blob":"AAEC"}`, func() any { return &sdk.ReadResourceResult{} }},
	"empty": {"resources/read", "contents", `{"uri":""}`, func() any { return &sdk.ReadResourceResult{} }},
	"messages": {"prompts/get", "messages", `{"role":"user","content":{"type":"text","text":"a"}}`,
		func() any { return &sdk.GetPromptResult{} }},
	"marked": {"prompts/get", "messages",
		`{"role":"user","content":{"type":"text","text":"a","_meta":{"b":1},"annotations":{"priority":1}}}`,
		func() any { return &sdk.GetPromptResult{} }},
	"images": {"prompts/get", "messages", `{"role":"user","content":{"type":"image","data":"AAEC","mimeType":"a/b"}}`,
		func() any { return &sdk.GetPromptResult{} }},
	"resources": {"resources/list", "resources", `{"uri":"a:","name":"b","size":1,"annotations":{"priority":1}}`,
		func() any { return &sdk.ListResourcesResult{} }},
	"templates": {"resources/templates/list", "resourceTemplates", `{"uriTemplate":"a:{b}","name":"b","_meta":{"a":1}}`,
		func() any { return &sdk.ListResourceTemplatesResult{} }},
	"prompts": {"prompts/list", "prompts", `{"name":"a","arguments":[{"name":"b","required":true}]}`,
		func() any { return &sdk.ListPromptsResult{} }},
}

// Long resources, prompts and lists have the same value as short ones: the one that the SDK gives them, without the
// members for caches, which it adds.
func TestLongResults(t *testing.T) {
	t.Parallel()
	c := repeater(t)
	for name, r := range results {
		for _, times := range []int{1, 20_000} {
			of := repeated{
				Before: `"result":{"_meta":{"a":1},"` + r.member + `":[`, Each: r.each, Times: times,
				After: "]}}",
			}
			var carried []int
			got, err := c.Call(t.Context(), "a:"+r.method, of.params(t, r.method), func(bytes int) error {
				carried = append(carried, bytes)
				return nil
			})
			if err != nil {
				t.Errorf("%d %s: %v", times, name, err)
				continue
			}
			result := r.as()
			if err := json.Unmarshal([]byte("{"+of.text()), &struct{ Result any }{result}); err != nil {
				t.Fatal(err)
			}
			if has, want := plain(t, string(got)), plain(t, encoded(t, result)); !reflect.DeepEqual(has, want) {
				t.Errorf("%d %s: %.300s", times, name, got)
			}
			if len(carried) != 1 || carried[0] < len(of.text()) {
				t.Errorf("%d %s of %d bytes count as %d", times, name, len(of.text()), carried)
			}
		}
	}
}

// plain returns a result without the members for caches.
func plain(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	delete(out, "ttlMs")
	delete(out, "cacheScope")
	return out
}

// What an execution may not have is refused, whichever method has it, and so is a message with much beside its
// contents. The connection goes on.
func TestLongAnswersAreRefused(t *testing.T) {
	t.Parallel()
	c := repeater(t)
	short := repeated{Before: `"result":{"contents":[`, Each: "{}", Times: 1, After: "]}}"}
	long := strings.Repeat("x", 300<<10)
	for _, method := range []string{
		"resources/read", "prompts/get", "resources/list", "resources/templates/list", "prompts/list", "t0",
	} {
		for name, of := range map[string]repeated{
			"a result": {Before: `"result":{"content":[`, Each: "{}", Times: 1, After: "]}}"},
			"an error": {Before: `"error":{"code":1,"message":"a`, Each: "a", Times: 1, After: `"}}`},
		} {
			_, err := c.Call(t.Context(), "a:"+method, of.params(t, method), func(bytes int) error {
				return fmt.Errorf("%d of %s", bytes, strings.Repeat("x", 500))
			})
			want := fmt.Sprintf("%d of %s", len(`{"jsonrpc":"2.0","id":1,`+of.text())+1, strings.Repeat("x", 500))
			if got := fmt.Sprint(err); len(got) < len(want) || got[len(got)-501:] != want[len(want)-501:] {
				t.Errorf("%s, %s: %v", method, name, err)
			}
		}
		for name, of := range map[string]repeated{
			"metadata": {Before: `"result":{"content":[],"_meta":{"a":"`, Each: long, Times: 1, After: `"}}}`},
			"an error": {Before: `"error":{"code":1,"message":"`, Each: long, Times: 1, After: `"}}`},
			"data":     {Before: `"error":{"code":1,"message":"","data":[`, Each: "0", Times: 150 << 10, After: `]}}`},
			"state":    {Before: `"result":{"resultType":"input_required","contents":["`, Each: long, Times: 1, After: `"]}}`},
			"input":    {Before: `"result":{"inputRequests":{"a":"`, Each: long, Times: 1, After: `"},"contents":[]}}`},
		} {
			_, err := c.Call(t.Context(), "a:"+method, of.params(t, method), anySize)
			if err == nil || !strings.HasPrefix(err.Error(), "the answer has 307") ||
				!strings.HasSuffix(err.Error(), "bytes beside its contents, and may have 65536") {
				t.Errorf("%s, %s: %.300v", method, name, err)
			}
		}
	}
	for name, line := range map[string]string{
		"a notification": `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + long + `"}}`,
		"a question":     `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"` + long + `"}}`,
		"a long ID":      `{"jsonrpc":"2.0","id":"` + long + `","result":{}}`,
	} {
		of := short
		of.Line = line
		got, err := c.Call(t.Context(), "a:resources/read", of.params(t, "resources/read"), anySize)
		if err != nil || !strings.Contains(string(got), `"contents":[{`) {
			t.Errorf("after %s: %s %v", name, got, err)
		}
	}
}

// costlyResults are answers of 2 MiB, which is what an execution may have, by name: with the methods that read them.
func costlyResults() map[string]func(t testing.TB, c *mcptools.Catalogue) {
	const full = 2 << 20
	out := map[string]func(testing.TB, *mcptools.Catalogue){}
	add := func(name, method string, size int, of repeated, wrong string) {
		of.Times = max((size-200)/(len(of.Each)+1), 1)
		out[name] = func(t testing.TB, c *mcptools.Catalogue) {
			t.Helper()
			_, err := c.Call(t.Context(), "a:"+method, of.params(t, method), func(bytes int) error {
				if bytes > full {
					return errors.New("it is too much")
				}
				return nil
			})
			if err == nil && wrong != "" {
				t.Fatalf("%s: there is an answer", name)
			}
			if err != nil && (wrong == "" || !strings.Contains(err.Error(), wrong)) {
				t.Fatalf("%s: %.300v", name, err)
			}
		}
	}
	for name, r := range results {
		list := repeated{Before: `"result":{"` + r.member + `":[`, Each: r.each, After: "]}}"}
		add(name, r.method, full, list, "")
		list.Each = "{}"
		add("empty "+name, r.method, full, list, "")
		add("too many "+name, r.method, 2*full, list, "it is too much")
	}
	member := func(member, each string) repeated {
		return repeated{Before: `"result":{"` + member + `":[`, Each: each, After: `],"contents":[]}}`}
	}
	add("numbers", "resources/read", full, member("a", "0"), "")
	add("metadata", "t0", 64<<10, repeated{Before: `"result":{"content":[],"_meta":{"a":[`, Each: "{}", After: "]}}}"}, "")
	out["metadata, again and again"] = func(t testing.TB, c *mcptools.Catalogue) {
		t.Helper()
		of := repeated{Before: `"result":{"content":[],"_meta":{"a":[`, Each: "{}", Times: 21_000, After: "]}}}"}
		var all atomic.Int64
		for n := 0; ; n++ {
			_, err := c.Call(t.Context(), "a:t0", of.params(t, "t0"), func(bytes int) error {
				if all.Add(int64(bytes)) > full {
					return errors.New("it is too much")
				}
				return nil
			})
			if err != nil {
				if n != 3 || err.Error() != "it is too much" {
					t.Fatalf("%d calls, and %v", n, err)
				}
				return
			}
		}
	}
	add("much metadata", "t0", full, repeated{Before: `"result":{"_meta":{"a":[`, Each: "{}", After: "]}}}"}, "beside")
	add("links", "t0", full, repeated{
		Before: `"result":{"content":[`, Each: `{"type":"resource_link","uri":"a:","name":""}`, After: "]}}",
	}, "")
	add("data", "t0", 64<<10, repeated{Before: `"error":{"code":1,"message":"a","data":[`, Each: "{}", After: "]}}"}, "a")
	add("links and metadata", "t0", full-64<<10, repeated{
		Before: `"result":{"_meta":{"a":[{}` + strings.Repeat(",{}", 21_000) + `]},"content":[`,
		Each:   `{"type":"resource_link","uri":"a:","name":""}`, After: "]}}",
	}, "")
	add("forms", "t0", 64<<10, repeated{
		Before: `"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":` +
			`{"message":"","requestedSchema":{"type":"object","properties":{"b":[`,
		Each: "{}", After: `]}}}}}}}`,
	}, "input")
	return out
}

// ownTime is the processor time that an answer may cost this process, on an idle core.
const ownTime = 50 * time.Millisecond

// No answer of a server that is a command costs this process more than a request may. On a busy machine the decoding of
// 1 MiB, which takes a third of that time or less, takes longer, too.
func TestOwnCostsOfPrograms(t *testing.T) {
	numbers := []byte("[0" + strings.Repeat(",0", 1<<19) + "]")
	for name, read := range costlyResults() {
		c := repeater(t) // a server may write 64 MiB a minute
		best, most := time.Hour, ownTime
		for tries := 0; tries < 10 && best > most; tries++ {
			before := processorTime()
			read(t, c)
			best = min(best, processorTime()-before)
			if best > most {
				before = processorTime()
				var v any
				if err := json.Unmarshal(numbers, &v); err != nil {
					t.Fatal(err)
				}
				most = max(most, 3*(processorTime()-before))
			}
		}
		if best > most {
			t.Errorf("%s: %v of processor time", name, best)
		}
	}
}

// BenchmarkOwnCostsOfPrograms reports the processor time of this process for answers of 2 MiB. A server may write
// 64 MiB a minute, so it takes -benchtime 10x.
func BenchmarkOwnCostsOfPrograms(b *testing.B) {
	for name, read := range costlyResults() {
		b.Run(name, func(b *testing.B) {
			c := repeater(b)
			var total time.Duration
			for b.Loop() {
				before := processorTime()
				read(b, c)
				total += processorTime() - before
			}
			b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "own-cpu-ms/op")
		})
	}
}
