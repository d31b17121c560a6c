package bounds

import (
	"strconv"
	"time"
)

// The resources. Codes are append-only: they are labels of metrics.
const (
	Connections = "connections"
	Live        = "live_pages"
	Streams     = "streams"
	MCPStreams  = "mcp_streams"
	MCPSessions = "mcp_sessions"
	Executing   = "executions"
	Waiting     = "executions_waiting"
	Scans       = "scans"
	Jobs        = "jobs"
	JobsOfEach  = "jobs_of_a_tenant"
	Schedules   = "schedules_of_a_tenant"
	Callbacks   = "callbacks"
	Keys        = "idempotency_keys"
	Results     = "results"
	Pure        = "pure_results"
	Replays     = "replay_buffers"
	Contents    = "function_contents"
	Logins      = "logins"
	Images      = "function_images"
)

// A Bound is one resource that callers share.
type Bound struct {
	Resource string
	What     string
	// Most is the largest number of them; it is 0 if a setting or the machine decides.
	Most int
	// Bytes is what they may take together; it is 0 if their number bounds it.
	Bytes int
	// Owner says whose share is counted: that of a token (with its tenant), a tenant or an address.
	Owner string
	// Share is what one owner may have.
	Share string
	// Answer is what happens to a caller who asks for more.
	Answer string
}

// The owners.
const (
	byToken   = "token"
	byTenant  = "tenant"
	byAddress = "address"
)

const (
	allButATenth = "all but a tenth"
	fairlyEvict  = "any; who has most loses the oldest"
)

// LoginsOfOne is how many logins one person may have.
const LoginsOfOne = 100

// SessionIdle is how long a silent MCP session is kept.
const SessionIdle = 30 * time.Minute

// Table returns every bound.
func Table() []Bound {
	return []Bound{
		{Connections, "open connections", 16 << 10, 0, byAddress, allButATenth, "closed at once"},
		{Live, "pages kept up to date (`GET /api/live`)", 200, 0, byToken, allButATenth, "503 `too_many`"},
		{Streams, "answers of `POST /api/execute/stream`", 500, 0, byToken, allButATenth, "503 `too_many`"},
		{MCPStreams, "open requests of `/mcp`", 300, 0, byToken, allButATenth, "503 `too_many`"},
		{
			MCPSessions, "sessions of `/mcp`, each for 30 minutes after its last request", 1000, 0, byToken, allButATenth,
			"503 `too_many`",
		},
		{Executing, "executions at once", 0, 0, byTenant, "its part while others ask; `quota.concurrent`", "waits"},
		{
			Waiting, "executions in line", 1000, 0, byTenant, "who has most gives way, and of a tenant the token that has most",
			"503 `queue_full`",
		},
		{Scans, "code being read at once", 0, 0, byTenant, "its part while others ask", "waits"},
		{Jobs, "jobs that have not begun", 100_000, 0, byTenant, allButATenth, "503 `queue_full`"},
		{JobsOfEach, "jobs of one tenant that have not begun", 20_000, 0, byToken, allButATenth, "503 `queue_full`"},
		{
			Schedules, "functions of one tenant with a schedule", 1000, 0, byTenant, "all; `quota.storage`",
			"507 `storage_quota`",
		},
		{Callbacks, "callbacks being made at once", 64, 0, byTenant, allButATenth, "made later"},
		{Keys, "answers kept under an `Idempotency-Key` in memory", 10_000, 64 << 20, byToken, fairlyEvict, "forgotten"},
		{Results, "results kept in memory", 1000, 64 << 20, byToken, fairlyEvict, "forgotten"},
		{Pure, "results that identical executions are answered with", 1000, 64 << 20, byToken, fairlyEvict, "run again"},
		{Replays, "streams that can be taken up after their end", 1000, 64 << 20, byToken, fairlyEvict, "404"},
		{Contents, "versions of functions kept in memory", 1000, 64 << 20, byTenant, fairlyEvict, "read again"},
		{Logins, "people who are logged in", 10_000, 0, byToken, strconv.Itoa(LoginsOfOne), "the oldest login ends"},
		{Images, "images of functions in each process", 64, 48 << 20, byTenant, fairlyEvict, "made again"},
	}
}

// Of returns the bound of a resource, which must be in the table.
func Of(resource string) Bound {
	for _, b := range Table() {
		if b.Resource == resource {
			return b
		}
	}
	panic("bounds: there is no resource " + strconv.Quote(resource))
}
