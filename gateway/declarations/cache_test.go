package declarations_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/declarations"
)

// many returns tools as large as a hostile server lists them.
func many(n int, marks string) []execution.Tool {
	var members []string
	for i := range 20 {
		members = append(members, fmt.Sprintf(`"p%d":{"type":"string","description":%q}`, i, marks))
	}
	tools := make([]execution.Tool, n)
	for i := range tools {
		tools[i] = execution.Tool{Name: fmt.Sprint("evil:t", i), Description: strings.Repeat(marks, 20),
			InputSchema: json.RawMessage(`{"type":"object","properties":{` + strings.Join(members, ",") + `}}`)}
	}
	return tools
}

// The second time, tools are declared in no time, also if they were listed again. Others, and fewer, have their own.
func TestCache(t *testing.T) {
	t.Parallel()
	var c declarations.Cache
	all, again := many(1000, "*/ x "), many(1000, "*/ x ")
	for i, tools := range [][]execution.Tool{all, again, all[:7], many(7, "y "), nil, all} {
		begin := time.Now()
		got := c.For(tools)
		took := time.Since(begin)
		if known := i > 0 && len(tools) == len(all); known && took > 20*time.Millisecond {
			t.Errorf("%d: %v", i, took)
		}
		if got != declarations.For(tools) {
			t.Errorf("%d: another text", i)
		}
	}
	for i := range 20 { // more than are kept
		if some := all[:i]; c.For(some) != declarations.For(some) {
			t.Errorf("%d tools have another text", i)
		}
	}
}
