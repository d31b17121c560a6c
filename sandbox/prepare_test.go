package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// repeated returns head, then unit repeated to fill n bytes, then tail as many times.
func repeated(n int, head, unit, middle, tail string) string {
	times := n / max(len(unit)+len(tail), 1)
	return head + strings.Repeat(unit, times) + middle + strings.Repeat(tail, times)
}

// shapes are the arguments of repeated that make a parser or a transform work or recurse without bound.
var shapes = map[string][4]string{
	"dotted namespace": {"namespace a", ".a", "{}", ""}, "new": {"", "new ", "a", ""}, "labels": {"", "a:", ";", ""},
	"commas":    {"", "1,", "1", ""},
	"let lines": {"", "let\n", "", ""}, "members": {"a", ".a", "", ""}, "calls": {"a", "()", "", ""},
	"optional chain": {"a", "?.a", "", ""},
	"tags":           {"a", "``", "", ""}, "non-null": {"a", "!", "", ""}, "typeof": {"", "typeof ", "1", ""},
	"await": {"", "await ", "1", ""},
	"minus": {"", "- ", "1", ""}, "sum": {"", "1+", "1", ""}, "text sum": {"", "'a'+", "'a'", ""},
	"template sum": {"x=''", "+`a${b}`", "", ""},
	"powers":       {"", "2**", "1", ""}, "conditions": {"", "a?b:", "1", ""}, "nested conditions": {"", "a?", "a", ":1"},
	"assignments": {"", "a=", "1", ""},
	"arrows":      {"", "async a=>", "1", ""}, "if": {"", "if(a)", ";", ""}, "else": {"", "if(a);else ", ";", ""},
	"for": {"", "for(;;)", ";", ""},
	"do":  {"", "do ", ";", "while(0);"}, "classes": {"x=", "class extends ", "a", "{}"},
	"casts":          {"1", " as any", "", ""},
	"type arguments": {"let x: ", "A<", "A", ">"}, "open type arguments": {"", "a<", "a", ""},
	"closed type arguments": {"", "f<", "x", ">"},
	"keyof":                 {"let x: ", "keyof ", "A", ""}, "function types": {"let x: ", "()=>", "A", ""},
	"conditional types": {"let x: ", "A extends B?C:", "A", ""},
	"type assertions":   {"", "<a>", "1", ""}, "parentheses": {"", "(", "1", ")"},
	"arrow parentheses": {"", "(a=", "1", ")=>1"}, "arrays": {"", "[", "1", "]"},
	"objects": {"x=", "{a:", "1", "}"}, "patterns": {"", "[a=", "1", "]=1"}, "blocks": {"", "{", "", "}"},
	"templates":     {"", "`${", "1", "}`"},
	"private names": {"class A{", "#p\n", "}", ""}, "enum members": {"enum E{", "a,", "}", ""},
	"enums":      {"", "const enum E{a}", "", ""},
	"namespaces": {"", "namespace a{export let b}", "", ""}, "import paths": {"import a = b", ".b", "", ""},
	"decorators": {"", "@a ", "class B{}", ""},
	"prototypes": {"x={", "__proto__:1,", "}", ""}, "using": {"{", "using a=b;", "}", ""},
	"declared again": {"", "var a;", "", ""}, "functions again": {"", "function a(){}", "", ""},
	"semicolons": {"", ";", "", ""}, "texts": {"", "\"a\";", "", ""}, "line separators": {"", "a\u2028", "", ""},
	"comments": {"`${", "+/*c*/", "1}`", ""}, "digits": {"", "1", "n", ""},
	"carriage returns": {"", "\r", "", ""}, "functions": {"", "function a(){", "", "}"},
	"static blocks": {"class A{", "static{", "", "}"},
}

// prepareGrace is the processor time that a run may take beyond its limit while its code is still being prepared.
// Without a bound, these take seconds to hours.
const prepareGrace = 1500 * time.Millisecond

// TestPreparationObeysLimits checks that the limits of a run hold while its code is prepared, whatever the code and
// however long it is.
func TestPreparationObeysLimits(t *testing.T) {
	t.Parallel()
	var c preparer
	defer c.stop()
	for name, s := range shapes {
		for _, p := range []preparation{
			{Code: repeated(3_000, s[0], s[1], s[2], s[3]), TypeScript: true},
			{Code: repeated(1<<20, s[0], s[1], s[2], s[3]), TypeScript: true},
			{Code: repeated(48_000, s[0], s[1], s[2], s[3])},
		} {
			p.Wall = 200 * time.Millisecond
			r := c.run(t, p)
			if r.Used > p.Wall+prepareGrace {
				t.Errorf("%s (%s): %v of processor time under a limit of %v", name, p, r.Used, p.Wall)
			}
			switch r.Result.Limit {
			case "", sandbox.LimitWall, sandbox.LimitMemory, sandbox.LimitStack, sandbox.LimitOutput:
			default:
				t.Errorf("%s (%s): limit %q", name, p, r.Result.Limit)
			}
			if r.Spent && r.Result.Limit == "" {
				t.Errorf("%s (%s): no limit ended it, and its preparation still runs", name, p)
			}
			if r.Result.Limit == sandbox.LimitWall && r.Result.Error != "timed out after 200ms of wall time" {
				t.Errorf("%s (%s): %s", name, p, r.Result.Error)
			}
		}
	}
}

// TestPreparationEndsUnderItsLimit checks that a preparation that outlives its run reports the limit that it hit, and
// that the process should be replaced.
func TestPreparationEndsUnderItsLimit(t *testing.T) {
	t.Parallel()
	stars := map[string]string{}
	for i := range 60 {
		var text strings.Builder
		for j := range 60 {
			fmt.Fprintf(&text, "export * from './f%d.js'\n", j)
		}
		stars[fmt.Sprintf("f%d.js", i)] = text.String()
	}
	var c preparer
	defer c.stop()
	for _, test := range []struct {
		name  string
		p     preparation
		limit sandbox.Limit
		spent bool
	}{
		{"wall", preparation{Code: repeated(1<<20, "class A{", "#p\n", "}", ""), TypeScript: true}, sandbox.LimitWall, true},
		{"wall among modules", preparation{Code: "export * from './f0.js'; export default 1", Files: stars},
			sandbox.LimitWall, true},
		{"wall while an error is placed", preparation{Code: repeated(40_000, "enum E{", "a,", "}", ""), Wall: time.Second},
			sandbox.LimitWall, true},
		{"stack that the estimate misses",
			preparation{Code: "import './a.tsx'; 1",
				Files: map[string]string{"a.tsx": repeated(1<<20, "x =", "<a>\nx", "", "</a>")}, Wall: time.Minute},
			sandbox.LimitStack, true},
		{"nested too deeply", preparation{Code: repeated(9_000, "namespace a", ".a", "{}", ""), TypeScript: true}, "", false},
		{"flags of literals before brackets",
			preparation{Code: repeated(256_000, "", "a/b/v\n", "", "["), Wall: 10 * time.Second}, sandbox.LimitStack, false},
		{
			"cpu", preparation{Code: repeated(1<<20, "enum E{", "a,", "}", ""), TypeScript: true, CPU: 50 * time.Millisecond,
				Wall: time.Minute}, sandbox.LimitCPU, true,
		},
		{"memory", preparation{Code: repeated(1<<20, "x=''", "+`a${b}`", "", ""), TypeScript: true, Wall: time.Minute},
			sandbox.LimitMemory, true},
	} {
		if test.p.Wall == 0 {
			test.p.Wall = 300 * time.Millisecond
		}
		r := c.run(t, test.p)
		if r.Result.Limit != test.limit || r.Spent != test.spent || r.Result.Completed() {
			t.Errorf("%s: limit %q, spent %v, error %q", test.name, r.Result.Limit, r.Spent, r.Result.Error)
		}
		least := 0.0
		if test.limit == sandbox.LimitCPU {
			least = 50
		}
		if used := r.Result.Usage.CPUMs; used < least || test.spent && used <= 0 {
			t.Errorf("%s: %v ms of processor time are reported", test.name, used)
		}
	}
}

// finite is code that takes seconds to prepare and then ends, so that it leaves nothing behind in a test process.
var finite = sandbox.Script{Code: repeated(16_000, "enum E{", "a,", "}", ""), TypeScript: true}

// TestPreparationIsCancelled checks that Run returns at once when its context ends.
func TestPreparationIsCancelled(t *testing.T) {
	e := newEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := e.Run(ctx, finite, sandbox.Grants{})
	if err != nil || !r.Cancelled || !e.Spent() {
		t.Errorf("cancelled %v, spent %v, %q, %v", r.Cancelled, e.Spent(), r.Error, err)
	}
	other := run(t, e, sandbox.Script{Code: "6 * 7"}, sandbox.Grants{})
	if string(other.Value) != "42" {
		t.Errorf("a run beside it: %s %s", other.Value, other.Error)
	}
}

// TestPreparationIsReplayed checks that a run that ended while its code was prepared can be repeated from its
// journal.
func TestPreparationIsReplayed(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Limits: sandbox.Limits{Wall: 100 * time.Millisecond}}
	first := run(t, e, finite, grants)
	if first.Limit != sandbox.LimitWall || first.Pure {
		t.Fatalf("limit %q, pure %v", first.Limit, first.Pure)
	}
	if first.Journal == nil || !first.Journal.Unprepared {
		t.Fatalf("journal %+v", first.Journal)
	}
	grants.Replay = first.Journal
	if d := same(first, run(t, e, finite, grants)); d != "" {
		t.Error(d)
	}
}
