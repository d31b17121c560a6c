package policy

import (
	"cmp"
	"encoding/json"
	"time"
)

// Grants holds the powers of one execution. The zero value grants nothing.
type Grants struct {
	Timeout     time.Duration
	CPU         time.Duration
	MemoryBytes int64
	OutputBytes int64
	LogEntries  int
	LogChars    int
	APICalls    int
	Depth       int
	CodeBytes   int
	Eval        bool
	// Network is "none", "allowlist" or "public". "allowlist" permits only Hosts. "public" permits any public address, or
	// only Hosts if there are any. Neither waives the check of the address behind the name.
	Network string
	Hosts   []string
	// OpenedHosts are the names that the deployment itself opened for this caller, for fetch and for tools. Only these may
	// resolve to a private or loopback address.
	OpenedHosts []string
	// Secrets are the names that may be substituted at egress, each only into requests to its own SecretHosts.
	Secrets     []string
	SecretHosts map[string][]string
	Tools       []string
	Files       string
	// Modules may hold AnyModule, which stands for every module that the sandbox provides.
	Modules []string
	// Packages are the packages of the deployment that the code may import.
	Packages []string
	Runtime
}

// Runtime is what runs the code, and what it may wait for.
type Runtime struct {
	// Engine is the engine that runs the code; "" is QuickJS.
	Engine string
	Waits  Waits
}

// MarshalJSON writes the grants in camelCase, durations in milliseconds, lists never null.
func (g Grants) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		TimeoutMs   int64    `json:"timeoutMs"`
		CPUMs       int64    `json:"cpuMs"`
		MemoryBytes int64    `json:"memoryBytes"`
		OutputBytes int64    `json:"outputBytes"`
		LogEntries  int      `json:"logEntries"`
		LogChars    int      `json:"logChars"`
		APICalls    int      `json:"apiCalls"`
		Depth       int      `json:"depth"`
		CodeBytes   int      `json:"codeBytes"`
		Eval        bool     `json:"eval"`
		Network     string   `json:"network"`
		Hosts       []string `json:"hosts"`
		OpenedHosts []string `json:"openedHosts"`
		Secrets     []string `json:"secrets"`
		Tools       []string `json:"tools"`
		Files       string   `json:"files"`
		Modules     []string `json:"modules"`
		Packages    []string `json:"packages,omitempty"`
		Engine      string   `json:"engine,omitempty"`
		Waits       *Waits   `json:"waits,omitempty"`
	}{
		g.Timeout.Milliseconds(), g.CPU.Milliseconds(), g.MemoryBytes, g.OutputBytes, g.LogEntries, g.LogChars, g.APICalls,
		g.Depth,
		g.CodeBytes, g.Eval, cmp.Or(g.Network, NetworkNone), listed(g.Hosts), listed(g.OpenedHosts), listed(g.Secrets),
		listed(g.Tools), cmp.Or(g.Files, FilesNone), listed(g.Modules), g.Packages,
		g.Engine, g.Waits.orNil(),
	})
}
