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
	LongBodies  = "long_bodies"
	Sessions    = "sessions_of_a_token"
	ToolCalls   = "tool_calls"
)

// A Bound is one resource that callers share.
type Bound struct {
	Resource string
	What     string
	// Most is their largest number, or 0 if a setting or the machine decides.
	Most int
	// Bytes is their largest total size, or 0 if their number alone is bounded.
	Bytes int
	// Owner is the kind of owner whose share is counted: a token (with its tenant), a tenant or an address.
	Owner string
	// Share is the part that one owner may use.
	Share string
	// Answer is the response to a caller beyond the bound.
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
	fairlyEvict  = "any; the largest owner loses its oldest"
)

// LoginsOfOne is how many logins one person may have.
const LoginsOfOne = 100

// SessionIdle is how long a silent MCP session is kept.
const SessionIdle = 30 * time.Minute

// BodyIdle is how long a request with a long body holds its place at most while others wait for one.
const BodyIdle = 2 * time.Minute

// Table returns every bound.
func Table() []Bound {
	return []Bound{
		{
			Connections, "open connections; at most half of the files that the process may open", 16 << 10, 0, byAddress,
			allButATenth, "closed at once",
		},
		{Live, "live pages (`GET /api/live`)", 200, 0, byToken, allButATenth, "503 `too_many`"},
		{
			Streams, "responses of `POST /api/execute/stream` and `POST /api/e2b/execute`", 500, 0, byToken, allButATenth,
			"503 `too_many`",
		},
		{MCPStreams, "open requests of `/mcp`", 300, 0, byToken, allButATenth, "503 `too_many`"},
		{
			MCPSessions, "sessions of `/mcp`, each for 30 minutes after its last request", 1000, 0, byToken, allButATenth,
			"503 `too_many`",
		},
		{Executing, "executions at once", 0, 0, byTenant, "a fair share while others wait; `quota.concurrent`", "waits"},
		{
			Waiting, "waiting executions", 1000, 0, byTenant, "the largest tenant is refused first, and its largest token",
			"503 `queue_full`",
		},
		{Scans, "scans at once", 0, 0, byTenant, "a fair share while others wait", "waits"},
		{
			ToolCalls, "calls of tools of MCP servers that are commands, at once", 34, 0, byTenant,
			"all but one; a fair share while others wait", "waits",
		},
		{Jobs, "waiting jobs", 100_000, 0, byTenant, allButATenth, "503 `queue_full`"},
		{JobsOfEach, "waiting jobs of one tenant", 20_000, 0, byToken, allButATenth, "503 `queue_full`"},
		{
			Schedules, "functions of one tenant with a schedule", 1000, 0, byTenant, "all; `quota.storage`",
			"507 `storage_quota`",
		},
		{Callbacks, "callbacks at once", 64, 0, byTenant, allButATenth, "delivered later"},
		{Keys, "responses kept in memory for their `Idempotency-Key`", 10_000, 64 << 20, byToken, fairlyEvict, "forgotten"},
		{Results, "results kept in memory", 1000, 64 << 20, byToken, fairlyEvict, "forgotten"},
		{Pure, "results that identical executions return", 1000, 64 << 20, byToken, fairlyEvict, "the code runs again"},
		{Replays, "ended streams that can be resumed", 1000, 64 << 20, byToken, fairlyEvict, "404"},
		{Contents, "versions of functions kept in memory", 1000, 64 << 20, byTenant, fairlyEvict, "read again"},
		{Logins, "browser sessions", 10_000, 0, byToken, strconv.Itoa(LoginsOfOne), "the oldest login ends"},
		{Images, "images of functions in each process", 64, 96 << 20, byTenant, fairlyEvict, "rebuilt"},
		{Sessions, "sessions of one token", 100, 0, byToken, "all; `quota.storage`", "507 `storage_quota`"},
		{LongBodies, "requests with a body of more than `MAX_DATA_SIZE`", 24, 0, byToken, allButATenth, "503 `too_many`"},
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
