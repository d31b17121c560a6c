package threat

// The categories of findings. Codes are append-only.
const (
	CommandExecution   = "command_execution"
	CodeInjection      = "code_injection"
	FilesystemAccess   = "filesystem_access"
	NetworkRequest     = "network_request"
	PrototypePollution = "prototype_pollution"
	ModuleLoading      = "module_loading"
	EnvironmentAccess  = "environment_access"
	BufferManipulation = "buffer_manipulation"
	TimerAbuse         = "timer_abuse"
	WebAssembly        = "webassembly"
	EncodingTricks     = "encoding_tricks"
	// Unanalysed marks code that was scanned by tokens, because no parser accepts it or because it would take more work
	// than a scan may. It raises the score to medium at least, and a deployment may forbid it like any category.
	Unanalysed = "unanalysed"
)

// Categories returns the eleven threats in the order of the documentation. The caller owns the slice.
func Categories() []string {
	return []string{
		CommandExecution, CodeInjection, FilesystemAccess, NetworkRequest, PrototypePollution, ModuleLoading,
		EnvironmentAccess, BufferManipulation, TimerAbuse, WebAssembly, EncodingTricks,
	}
}

// Severity returns the severity of every finding of the category: "critical", "high", "medium" or "low".
func Severity(category string) string {
	switch category {
	case CommandExecution, CodeInjection:
		return "critical"
	case FilesystemAccess, NetworkRequest, PrototypePollution:
		return "high"
	case ModuleLoading, EnvironmentAccess, BufferManipulation, WebAssembly, Unanalysed:
		return "medium"
	default:
		return "low"
	}
}

// Weight returns what one finding of the category adds to the score.
func Weight(category string) int {
	switch Severity(category) {
	case "critical":
		return 10
	case "high":
		return 5
	case "medium":
		return 3
	default:
		return 1
	}
}

// The levels by score: safe is 0, low 1 to 3, medium 4 to 6, high 7 to 9, critical 10 and more.
const (
	Safe     = "safe"
	Low      = "low"
	Medium   = "medium"
	High     = "high"
	Critical = "critical"
)

// MediumScore is the lowest score of level medium.
const MediumScore = 4

// LevelOf returns the level of a score.
func LevelOf(score int) string {
	switch {
	case score <= 0:
		return Safe
	case score < MediumScore:
		return Low
	case score <= 6:
		return Medium
	case score <= 9:
		return High
	default:
		return Critical
	}
}

// Rank orders levels. An unknown level ranks lowest, so that a mistaken threshold refuses more, not less.
func Rank(level string) int {
	switch level {
	case Low:
		return 1
	case Medium:
		return 2
	case High:
		return 3
	case Critical:
		return 4
	default:
		return 0
	}
}

// A Finding is one place in the caller's own source that acquires or uses a power. Line and Column count from 1,
// columns in characters. A Score of 0 notes a power that the tier grants.
type Finding struct {
	Category string `json:"category"`
	Severity string `json:"severity"`
	Score    int    `json:"score"`
	Message  string `json:"message"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	// Excerpt is the line of source, cut to about 80 characters around the place.
	Excerpt string `json:"excerpt"`
	// File names the extra source the finding is in; empty for the code itself.
	File string `json:"file,omitempty"`
}

// Analysis holds what a scan found; it is dangerAnalysis in the API. Findings is never nil in a decision. It is in
// source order and holds at most 100 entries, which does not change the score.
type Analysis struct {
	// Score adds the weight of each category once, and once more when it repeats.
	Score    int       `json:"score"`
	Level    string    `json:"level"`
	Findings []Finding `json:"findings"`
	// Unanalysed reports that some of the code was scanned by tokens; a finding of that category says why.
	Unanalysed bool `json:"unanalysed,omitempty"`
	// Truncated reports that there were more findings than are listed.
	Truncated bool `json:"truncated,omitempty"`
}

// Telemetry describes the structure of the code; it is astTelemetry in the API. AccessedIdentifiers holds the names
// that the code uses and does not declare, sorted; it is never nil in a decision.
type Telemetry struct {
	IsValid             bool     `json:"isValid"`
	AccessedIdentifiers []string `json:"accessedIdentifiers"`
	Metrics             Metrics  `json:"metrics"`
	Flags               Flags    `json:"flags"`
}

// Metrics counts the parts of the syntax tree.
type Metrics struct {
	LoopCount     int `json:"loopCount"`
	FunctionCount int `json:"functionCount"`
	ASTNodeCount  int `json:"astNodeCount"`
	MaxDepth      int `json:"maxDepth"`
	Cyclomatic    int `json:"cyclomatic"`
	Bytes         int `json:"bytes"`
	Lines         int `json:"lines"`
}

// Flags reports which powers the code mentions in a way that the language would resolve.
type Flags struct {
	HasEval          bool `json:"hasEval"`
	HasRequire       bool `json:"hasRequire"`
	HasProcess       bool `json:"hasProcess"`
	HasDynamicImport bool `json:"hasDynamicImport"`
	HasFetch         bool `json:"hasFetch"`
	HasTimers        bool `json:"hasTimers"`
	HasWebAssembly   bool `json:"hasWebAssembly"`
	HasProtoAccess   bool `json:"hasProtoAccess"`
}

// A SyntaxError is the place where the caller's code stops making sense. Line and Column count from 1. File is the path
// of the source among the files beside the code; it is empty for the code itself.
type SyntaxError struct {
	File    string `json:"file,omitempty"`
	Message string `json:"message"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}
