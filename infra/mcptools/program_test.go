//go:build linux

package mcptools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/infra/mcptools"
)

// The test binary is the server; its first argument names which one.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "server" {
		os.Exit(serveAs(os.Args[2]))
	}
	os.Exit(m.Run())
}

func serveAs(kind string) int {
	switch kind {
	case "that fails":
		fmt.Fprintln(os.Stderr, "no database at /srv/secret")
		return 3
	case "that is silent":
		stay()
	case "that says something else":
		fmt.Println("Server ready")
		stay()
	case "with a long line":
		signal.Ignore(syscall.SIGPIPE)
		fmt.Println(strings.Repeat("x", 5<<20))
		stay()
	case "that repeats":
		return repeatAnswers()
	case "that stays":
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			return 1
		}
		defer stay() // when its input has ended
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "local", Version: "1"}, nil)
	text := func(text string) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	}
	type none struct{}
	sdk.AddTool(s, &sdk.Tool{Name: "environment"},
		func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
			return text(strings.Join(os.Environ(), "\n"))
		})
	sdk.AddTool(s, &sdk.Tool{Name: "group"},
		func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
			return text(strconv.Itoa(syscall.Getpgrp()))
		})
	sdk.AddTool(s, &sdk.Tool{Name: "die"},
		func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
			os.Exit(7)
			return nil, nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "wait"},
		func(ctx context.Context, _ *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"},
		func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
			return nil, nil, fmt.Errorf("no row, and %s", os.Getenv("TOKEN"))
		})
	sdk.AddTool(s, &sdk.Tool{Name: "content"},
		func(_ context.Context, _ *sdk.CallToolRequest, in content) (*sdk.CallToolResult, any, error) {
			list := strings.Repeat(","+in.Of, max(in.Times, 1))[1:]
			return &sdk.CallToolResult{StructuredContent: json.RawMessage(`{"list":[` + list + `]}`)}, nil, nil
		})
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
	return 0
}

// content is what the tool of that name returns: so many of a JSON value.
type content struct {
	Of    string `json:"of"`
	Times int    `json:"times"`
}

// stay waits until the process is ended from outside. Without cgo, the runtime would report a select without cases as a
// deadlock.
func stay() { <-time.After(time.Hour) }

// local opens a catalogue with a server of the test binary.
func local(t testing.TB, kind, more string) *mcptools.Catalogue {
	t.Helper()
	entry := fmt.Sprintf(`[{"namespace":"a","command":%q,"args":["server",%q]%s}]`, os.Args[0], kind, more)
	listed(t, entry)
	list, err := mcptools.Parse([]byte(entry))
	if err != nil {
		t.Fatal(err)
	}
	servers := mcptools.New(list, func(name string) string {
		if name == "" {
			return ""
		}
		return "of-" + name
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := mcptools.Open(ctx, servers, http.DefaultTransport, slog.New(slog.DiscardHandler))
	t.Cleanup(c.Close)
	return c
}

func called(t *testing.T, c *mcptools.Catalogue, tool string) string {
	t.Helper()
	return calledWith(t, c, tool, "{}")
}

func calledWith(t testing.TB, c *mcptools.Catalogue, tool, params string) string {
	t.Helper()
	value, err := c.Call(t.Context(), "a:"+tool, json.RawMessage(params), anySize)
	if err != nil {
		return err.Error()
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return string(value)
	}
	return text
}

// gone waits until a process group has ended.
func gone(t *testing.T, group int) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(20 * time.Second); syscall.Kill(-group, 0) == nil; <-look.C {
		if time.Now().After(end) {
			t.Fatalf("the group %d is there", group)
		}
	}
}

// A command gets PATH, the variables that are named, and its secret; answers never repeat that.
func TestProgram(t *testing.T) {
	t.Setenv("MCPTOOLS_NAMED", "yes")
	t.Setenv("MCPTOOLS_OTHER", "no")
	c := local(t, "with tools", `,"env":["MCPTOOLS_NAMED","MCPTOOLS_ABSENT"],"secret":"TOKEN"`)
	until(t, c, "a:content", "a:die", "a:environment", "a:fail", "a:group", "a:wait")
	for _, tool := range c.Tools() {
		if tool.Via != "caller" {
			t.Errorf("%+v is not called by the gateway", tool)
		}
	}
	variables := strings.Split(called(t, c, "environment"), "\n")
	slices.Sort(variables)
	want := []string{"MCPTOOLS_NAMED=yes", "PATH=" + os.Getenv("PATH"), "TOKEN=[secret]"}
	if !slices.Equal(variables, want) {
		t.Errorf("got %q, want %q", variables, want)
	}
	if got := called(t, c, "fail"); got != "no row, and [secret]" {
		t.Error(got)
	}
	if group := called(t, c, "group"); group == strconv.Itoa(syscall.Getpgrp()) {
		t.Error("it is in the group of the gateway")
	}
	if err := c.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// The structured content of a result arrives as the server wrote it, whatever its size, but never with the secret.
func TestProgramContent(t *testing.T) {
	t.Parallel()
	c := local(t, "with tools", `,"secret":"TOKEN"`)
	for _, times := range []int{1, 100_000} {
		for of, want := range map[string]string{
			`1`: `1`, `"a\u003cb"`: `"a<b"`, `12345678901234567890.5`: `12345678901234567890.5`, `1e400`: `1e400`,
			`null`: `null`, `{"a":1,"b":[]}`: `{"a":1,"b":[]}`, `"of-TOKEN"`: `"[secret]"`, `"\u006ff-\u0054OKEN"`: `"[secret]"`,
			`"é\ud83d\ude00"`: `"é😀"`, `"\ud800"`: `"�"`,
		} {
			if times > 1 && len(of) > 12 {
				times = 30_000
			}
			params, err := json.Marshal(content{of, times})
			if err != nil {
				t.Fatal(err)
			}
			got := calledWith(t, c, "content", string(params))
			if want = `{"list":[` + strings.Repeat(","+want, times)[1:] + `]}`; got != want {
				t.Errorf("%d times %s: %.200s", times, of, got)
			}
		}
	}
}

// BenchmarkProgramContent reports the processor time of this process for an answer of 1 MB. A server may write 64 MiB a
// minute, so it takes -benchtime 40x.
func BenchmarkProgramContent(b *testing.B) {
	for _, of := range []string{"0", "{}", `{"a":1}`, `"text of a row"`} {
		b.Run(of, func(b *testing.B) {
			c := local(b, "with tools", "")
			until(b, c, "a:content", "a:die", "a:environment", "a:fail", "a:group", "a:wait")
			params, err := json.Marshal(content{of, 1e6 / (len(of) + 1)})
			if err != nil {
				b.Fatal(err)
			}
			var total time.Duration
			for b.Loop() {
				before := processorTime()
				if _, err := c.Call(b.Context(), "a:content", params, anySize); err != nil {
					b.Fatal(err)
				}
				total += processorTime() - before
			}
			b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "own-cpu-ms/op")
		})
	}
}

// anySize accepts an answer of any size.
func anySize(int) error { return nil }

func processorTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// A command that ends is started again, and its call says what happened.
func TestProgramStartsAgain(t *testing.T) {
	t.Parallel()
	c := local(t, "with tools", "")
	first := called(t, c, "group")
	if got := called(t, c, "die"); got != "the connection to the server of a was lost" {
		t.Error(got)
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(30 * time.Second); ; <-look.C {
		got := called(t, c, "group")
		if _, err := strconv.Atoi(got); err == nil && got != first {
			break
		}
		if time.Now().After(end) {
			t.Fatal(got)
		}
	}
}

// A call ends in time, and with its execution.
func TestProgramCallsEnd(t *testing.T) {
	t.Parallel()
	c := local(t, "with tools", `,"timeoutMs":5000`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Call(ctx, "a:wait", json.RawMessage("{}"), anySize); err == nil {
		t.Error("a call outlives its execution")
	}
	if got := called(t, c, "wait"); got != "the server of a has not answered in time" {
		t.Error(got)
	}
	if got := called(t, c, "fail"); got != "no row, and " {
		t.Error(got)
	}
}

// The end of the catalogue ends the process and its children, even if they ignore signals.
func TestProgramEnds(t *testing.T) {
	t.Parallel()
	c := local(t, "that stays", "")
	group, err := strconv.Atoi(called(t, c, "group"))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	gone(t, group)
}

// A command that is no server says why it is not listed, and names no path and nothing of its standard error.
func TestBadPrograms(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"that fails":               "the server of a cannot be reached: its command ended (exit status 3)",
		"that is silent":           "the server of a has not answered in time",
		"that says something else": "the server of a does not speak the protocol",
		"with a long line":         "the server of a does not speak the protocol",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := local(t, kind, `,"timeoutMs":3000`)
			unlisted := c.Unlisted()
			if len(unlisted) != 1 || unlisted[0].Problem != want || unlisted[0].Via != "caller" {
				t.Errorf("got %+v, want %s", unlisted, want)
			}
			if err := c.Ready(t.Context()); err == nil || err.Error() != "a: "+want {
				t.Error(err)
			}
			if got := called(t, c, "group"); got != want {
				t.Error(got)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	servers := listed(t, `[{"namespace":"a","command":"/nowhere/server"},{"namespace":"b","command":"`+file+`"}]`)
	c := mcptools.Open(t.Context(), servers, http.DefaultTransport, slog.New(slog.DiscardHandler))
	defer c.Close()
	var got []string
	for _, u := range c.Unlisted() {
		got = append(got, u.Problem)
	}
	if want := []string{"the server of a cannot be started: its command does not exist",
		"the server of b cannot be started: its command may not be executed"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestParseCommands(t *testing.T) {
	t.Parallel()
	long, many := strings.Repeat("x", 5000), strings.Repeat(`"",`, 65)
	for text, says := range map[string]string{
		`[{"namespace":"a","command":"x","url":"https://a.example"}]`: "[0].command: cannot be given together",
		`[{"namespace":"a","command":"x","header":"A","secret":"B"}]`: "[0].command: cannot be given together",
		`[{"namespace":"a","args":["x"]}]`:                            "[0].command: is required",
		`[{"namespace":"a","url":"https://a.example","env":["A"]}]`:   "[0].args: and env belong to a server",
		`[{"namespace":"a","command":"x\u0000"}]`:                     "[0].args: must be at most 64",
		`[{"namespace":"a","command":"x","args":["\u0000"]}]`:         "[0].args: must be at most 64",
		`[{"namespace":"a","command":"x","env":["A=b"]}]`:             "[0].env: must be a list of names",
		`[{"namespace":"a","command":"x","env":{"A":"b"}}]`:           "must be a JSON list",
		`[{"namespace":"a","command":"` + long + `"}]`:                "[0].args: must be at most 64",
		`[{"namespace":"a","command":"x","cwd":"/"}]`:                 "must be a JSON list",
		`[{"namespace":"a","command":"x","args":[` + many + `""]}]`:   "[0].args: must be at most 64",
	} {
		if _, err := mcptools.Parse([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}
