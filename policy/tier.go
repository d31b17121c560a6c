package policy

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/policy/scan"
	"github.com/airlock-run/airlock/policy/threat"
)

// DefaultTier is the tier of a [Request] that names none.
const DefaultTier = "standard"

// The values of [Tier.Network], each containing the ones before it.
const (
	NetworkNone      = "none"      // no fetch
	NetworkAllowlist = "allowlist" // only hosts that the deployment lists
	NetworkPublic    = "public"    // any host with a public address
)

// The values of [Tier.Files], each containing the ones before it. Files are the execution's own in-memory file system;
// nothing of the host is ever visible.
const (
	FilesNone  = "none"
	FilesRead  = "read"
	FilesWrite = "write"
)

// Networks returns the values of [Tier.Network], the weakest first.
func Networks() []string { return []string{NetworkNone, NetworkAllowlist, NetworkPublic} }

// FileAccesses returns the values of [Tier.Files], the weakest first.
func FileAccesses() []string { return []string{FilesNone, FilesRead, FilesWrite} }

// AnyModule in a module list stands for every module that the sandbox provides.
const AnyModule = scan.AnyModule

// A Tier is a named bundle of powers and limits. Sizes are in bytes.
type Tier struct {
	Name string
	// Base names the tier that a deployment's own tier started from. It is empty for a built-in tier.
	Base    string
	Timeout time.Duration
	// CPU is never more than Timeout.
	CPU         time.Duration
	MemoryBytes int64
	Network     string
	Files       string
	// Eval permits eval, Function and their relatives.
	Eval    bool
	Modules []string
	// Packages are the packages of the deployment that code of this tier may import. AnyPackage stands for all.
	Packages []string
	// OutputBytes caps console text and result together with LogEntries and LogChars (characters of one entry).
	OutputBytes int64
	LogEntries  int
	LogChars    int
	APICalls    int
	// Engines are the engines that code of this tier may run on; nil permits all that the deployment turns on.
	Engines []string
	// Depth caps the nesting of values that enter or leave the sandbox: results, and the arguments and answers of tools.
	Depth int
	// CodeBytes caps each source of an execution.
	CodeBytes int
	// BlockLevel is the lowest danger level that this tier refuses: "high" or "critical" for the built-ins.
	BlockLevel string
	// Waits says how an execution may wait.
	Waits Waits
}

// The limits of the built-in tiers on the size of each source.
const (
	strictCodeBytes = 256 << 10
	// MaxCodeBytes is the size of the longest source that any tier accepts.
	MaxCodeBytes = 4 << 20
)

// Builtin returns the four built-in tiers, weakest first. The caller owns the slice.
func Builtin() []Tier {
	basic := []string{"buffer", "crypto", "url", "util"}
	plain := append(slices.Clone(basic), "path", "querystring", "string_decoder")
	system := append(slices.Clone(plain), "fs", "http", "https", "stream", "zlib")
	tier := func(name string, seconds int, megabytes int64, network, files string, eval bool, modules []string) Tier {
		wall := time.Duration(seconds) * time.Second
		return Tier{
			Name: name, Timeout: wall, CPU: wall, MemoryBytes: megabytes << 20, Network: network, Files: files, Eval: eval,
			Modules: modules, Packages: []string{AnyPackage},
			OutputBytes: 1 << 20, LogEntries: 1000, LogChars: 1000, APICalls: 50,
			Depth: depth.Default, CodeBytes: MaxCodeBytes,
			BlockLevel: threat.Critical,
			Waits:      Waits{MaxPending: 16, MaxAge: 7 * 24 * time.Hour, MaxImageBytes: 16 << 20},
		}
	}
	strict := tier("strict", 5, 32, NetworkNone, FilesNone, false, basic)
	strict.Packages, strict.Waits = nil, Waits{}
	strict.BlockLevel, strict.CodeBytes, strict.LogEntries = threat.High, strictCodeBytes, 100
	agent := tier("agent", 60, 256, NetworkPublic, FilesWrite, true, []string{AnyModule})
	agent.LogEntries, agent.Waits.MaxPending = 10_000, 64
	return []Tier{
		strict,
		tier("standard", 15, 64, NetworkAllowlist, FilesRead, false, plain),
		tier("extended", 30, 128, NetworkPublic, FilesWrite, true, system),
		agent,
	}
}

// MarshalJSON writes the tier as GET /api/policies shows it: camelCase, durations in milliseconds, packages by name.
func (t Tier) MarshalJSON() ([]byte, error) {
	names := slices.DeleteFunc(slices.Clone(t.Packages), func(name string) bool { return name == AnyPackage })
	return json.Marshal(struct {
		Name        string   `json:"name"`
		Base        string   `json:"base,omitempty"`
		TimeoutMs   int64    `json:"timeoutMs"`
		CPUMs       int64    `json:"cpuMs"`
		MemoryBytes int64    `json:"memoryBytes"`
		Network     string   `json:"network"`
		Files       string   `json:"files"`
		Eval        bool     `json:"eval"`
		Modules     []string `json:"modules"`
		Packages    []string `json:"packages,omitempty"`
		OutputBytes int64    `json:"outputBytes"`
		LogEntries  int      `json:"logEntries"`
		LogChars    int      `json:"logChars"`
		APICalls    int      `json:"apiCalls"`
		Depth       int      `json:"depth"`
		CodeBytes   int      `json:"codeBytes"`
		BlockLevel  string   `json:"blockLevel"`
		Engines     []string `json:"engines,omitempty"`
		Waits       *Waits   `json:"waits,omitempty"`
	}{
		t.Name, t.Base, t.Timeout.Milliseconds(), t.CPU.Milliseconds(), t.MemoryBytes, t.Network, t.Files, t.Eval,
		listed(t.Modules), names, t.OutputBytes, t.LogEntries, t.LogChars, t.APICalls, t.Depth, t.CodeBytes, t.BlockLevel,
		t.Engines, t.Waits.orNil(),
	})
}

// clone returns a tier that shares no memory with t.
func (t Tier) clone() Tier {
	t.Modules, t.Packages, t.Engines = slices.Clone(t.Modules), slices.Clone(t.Packages), slices.Clone(t.Engines)
	return t
}

// listed returns an empty list for an absent one, so that JSON never says null.
func listed[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
