package gateway_test

import (
	"strings"
	"testing"
)

// The response to a request that misses a route says what was probably meant.
func TestNotFound(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"POST", "/api/excute", 404, "did you mean /api/execute? GET /docs"},
		{"POST", "/execute", 404, "did you mean /api/execute?"},
		{"POST", "/api/execute/streams", 404, "did you mean /api/execute/stream?"},
		{"GET", "/api/polices", 404, "did you mean /api/policies?"},
		{"GET", "/helthz", 404, "did you mean /healthz?"},
		{"GET", "/nothing/of/the/kind", 404, "there is nothing at this path; GET /docs lists the routes"},
		{"GET", "/" + strings.Repeat("a", 5000), 404, "there is nothing at this path; GET /docs lists the routes"},
		{"GET", "/api/execute", 405, "the method GET is not supported at this path, which accepts POST"},
		{"POST", "/api/policies", 405, "which accepts GET, HEAD"},
	} {
		if detail, _ := s.do(t, c.method, c.path, "").problem(t, c.status); !strings.Contains(detail, c.says) {
			t.Errorf("%s %.40s: %q; want %q", c.method, c.path, detail, c.says)
		}
	}
}
