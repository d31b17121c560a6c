package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	client "github.com/airlock-run/airlock/gateway/client/go"
)

var tierLine = regexp.MustCompile(`(?m)^// tier: (\w+)$`)

// The examples print and return the same through a gateway's stream and with airlock run as they do in their own test.
func TestExamplesThroughAGateway(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000")
	c, err := client.New(client.Config{URL: p.url})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(repository, "functions/examples/*.js"))
	if err != nil || len(files) != 20 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		base := strings.TrimSuffix(file, ".js")
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(base + ".out")
		if err != nil {
			t.Fatal(err)
		}
		input, err := os.ReadFile(base + ".json")
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		request := execution.Request{Code: string(code), Policy: string(tierLine.FindSubmatch(code)[1]), Input: input}
		var printed strings.Builder
		result, err := c.ExecuteStream(t.Context(), request, func(chunk client.Chunk) { printed.WriteString(chunk.Chunk) })
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		ending := "=> " + result.Value.String() + "\n"
		if result.Status != execution.Completed {
			ending = string(result.Status) + ": " + result.Error + "\n"
		}
		if got := printed.String() + ending; !strings.HasPrefix(string(want), got) || result.Output != printed.String() {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
		}
	}
}
