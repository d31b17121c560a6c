package execution_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/airlock-run/airlock/functions/execution"
)

// costlyBodies are bodies of 256 KiB whose shape costs decoders far more than their size.
func costlyBodies() map[string]string {
	const full = 256 << 10
	fill := func(s string) string { return strings.Repeat(s, full/len(s)) }
	object := func(pattern string) string {
		var b strings.Builder
		for i := 0; b.Len() < full; i++ {
			fmt.Fprintf(&b, pattern, i)
			b.WriteByte(',')
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	input := func(value string) string { return `{"code":"1","input":` + value + `}` }
	with := func(member string) string { return `{"code":"1",` + member + `}` }
	return map[string]string{
		"zeros": input("[0" + fill(",0") + "]"), "arrays": input("[[]" + fill(",[]") + "]"),
		"nested arrays": input(strings.Repeat("[", 120) + fill("[],") + "0" + strings.Repeat("]", 120)),
		"names":         input(object(`"%x":0`)), "long names": input(object(`"` + strings.Repeat("a", 60) + `%x":0`)),
		"escaped names":    input(object(`"\u0061%x":0`)),
		"names in objects": input("[{}" + fill(`,{"a":0,"b":0}`) + "]"), "names of members": object(`"%x":0`),
		"names in context":  with(`"context":` + object(`"a%x":0`)),
		"digits of timeout": with(`"timeout":` + fill("9")), "digits of seed": with(`"seed":` + fill("9")),
		"digits of input": input(fill("9")), "digits of memory": with(`"memory":"` + fill("9") + `"`),
		"escapes in code": `{"code":"` + fill(`\u0061`) + `"}`, "escapes in input": input(`"` + fill(`\n`) + `"`),
		"line separators": input(`"` + fill("\u2028") + `"`), "spaces": with(fill(" ") + `"input":0`),
		"deep file names": with(`"files":{` + deepFiles() + `}`),
		"one file":        with(`"files":{"a":{"base64":"` + fill("AAAA") + `"}}`),
		"files":           with(`"files":` + object(`"%x":""`)),
		"tools":           with(`"tools":[{"name":"a"}` + fill(`,{"name":"a"}`) + `]`),
		"a schema":        with(`"tools":[{"name":"a","inputSchema":{"a":[0` + fill(`,0`) + `]}}]`),
		"hosts":           with(`"hosts":["a"` + fill(`,"a"`) + `]`), "one host": with(`"hosts":["` + fill("a-") + `"]`),
		"secrets":       with(`"secrets":["a"` + fill(`,"a"`) + `]`),
		"escaped hosts": with(`"h\u006fsts":["a"` + fill(`,"a"`) + `]`), "no end": `{"code":"1","input":[0` + fill(",0"),
		"open objects": fill(`{"a":`), "open arrays": fill("["),
		"the same member": `{"code":"1"` + fill(`,"input":0`) + `}`, "one name": `{"` + fill("a") + `":0}`,
		"a name of slashes": with(`"context":{"` + fill("~/") + `":}`), "a policy": with(`"policy":"` + fill("a") + `"`),
	}
}

func deepFiles() string {
	var b strings.Builder
	for i := range execution.MaxFiles {
		fmt.Fprintf(&b, `,"%s%d":""`, strings.Repeat("a/", 120), i)
	}
	return b.String()[1:]
}

// fastest returns the processor time of the cheapest of a few runs, which other processes disturb the least.
func fastest(do func()) time.Duration {
	used := func() time.Duration {
		var r syscall.Rusage
		if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
			return 0
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	best := time.Hour
	for range 3 {
		before := used()
		do()
		best = min(best, used()-before)
	}
	return best
}

// decodings are the ways in which a body is read.
var decodings = map[string]func([]byte){
	"request": func(b []byte) { _, _ = execution.DecodeRequest(b) },
	"members": func(b []byte) { _, _, _ = execution.TakeMembers(b, "callback") },
}

// TestDecodingCosts checks that no shape costs more than four times the plainest body of its size.
func TestDecodingCosts(t *testing.T) {
	bodies := costlyBodies()
	for way, decode := range decodings {
		plain := fastest(func() { decode([]byte(bodies["zeros"])) })
		for name, body := range bodies {
			const times = 4
			took := fastest(func() { decode([]byte(body)) })
			for tries := 0; took > times*plain && tries < 40; tries++ { // both approach the time that they take undisturbed
				plain = min(plain, fastest(func() { decode([]byte(bodies["zeros"])) }))
				took = min(took, fastest(func() { decode([]byte(body)) }))
			}
			if took > times*plain {
				t.Errorf("%s as %s: %v; the plainest body takes %v, and %d times as much is allowed", name, way, took, plain,
					times)
			}
		}
	}
}

func BenchmarkDecodingCosts(b *testing.B) {
	for name, body := range costlyBodies() {
		for way, decode := range decodings {
			b.Run(name+"/"+way, func(b *testing.B) {
				for b.Loop() {
					decode([]byte(body))
				}
			})
		}
	}
}

// FuzzDuplicates checks that a strict reader accepts whatever DecodeRequest accepts. The decoder itself does not look
// for duplicate names.
func FuzzDuplicates(f *testing.F) {
	for _, body := range []string{
		`{"code":"1","input":{"a":1,"a":2}}`, `{"code":"1","input":{"a":1,"\u0061":2}}`,
		`{"code":"1","input":[{"a":{"b":1}},{"a":{"b":1}}]}`,
		`{"code":"1", "input" : {"a" :1 , "a": 2}}`, `{"code":"1","c\u006fde":"2"}`, `{"code":"\"a\":1,\"a\":2"}`,
		`{"code":"1","input":{"":1,"":2}}`,
		`{"code":"1","input":[{"a":1},"a",{"a":[{"a":1,"b":{"a":2}}]}]}`, `{"code":"1","input":{"a\\":1,"a\\":2}}`,
		`{"code":"1","input":{"é":1,"\u00e9":2}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := execution.DecodeRequest(b); err == nil && !jsontext.Value(b).IsValid() {
			t.Errorf("%q was decoded", b)
		}
		rest, taken, err := execution.TakeMembers(b, "input")
		if err != nil {
			return
		}
		parts := []jsontext.Value{b, rest}
		if value := taken["input"]; value != nil {
			parts = append(parts, jsontext.Value(value))
		}
		for _, part := range parts {
			if !part.IsValid() {
				t.Errorf("members of %q were taken, and %q is no JSON", b, part)
			}
		}
	})
}
