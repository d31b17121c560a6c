package declarations

import (
	"bytes"
	"slices"
	"sync"

	"github.com/airlock-run/airlock/functions/execution"
)

// maxKept bounds the declarations that a Cache keeps: one for each choice of tools that the policy permits to somebody.
const maxKept = 8

// A Cache keeps the last results of For. A thousand tools with large schemas take 100 ms of a processor to declare, and
// a request must not. The zero value is ready for use. It is safe for concurrent use.
type Cache struct {
	mu   sync.Mutex
	kept []declared // the one that was used last comes first
}

type declared struct {
	tools []execution.Tool
	text  string
}

// For returns what the function For does. The tools must not be changed later.
func (c *Cache) For(tools []execution.Tool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(d declared) bool { return slices.EqualFunc(d.tools, tools, same) })
	if i < 0 {
		if i = len(c.kept); i == maxKept {
			i--
		} else {
			c.kept = append(c.kept, declared{})
		}
		c.kept[i] = declared{tools, For(tools)}
	}
	found := c.kept[i]
	copy(c.kept[1:i+1], c.kept[:i])
	c.kept[0] = found
	return found.text
}

// same reports whether two tools have the same declaration. It is fast for those of one list, whose texts are the same
// bytes in memory.
func same(a, b execution.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.InputSchema, b.InputSchema) &&
		bytes.Equal(a.OutputSchema, b.OutputSchema)
}
