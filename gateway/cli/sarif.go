package cli

import (
	"net/url"
	"path/filepath"
	"slices"
	"unicode/utf16"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/policy/threat"
)

// The part of SARIF 2.1.0 that describes findings, with the extensions that code scanning services ask for.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		NewLines    []string          `json:"newlineSequences"`
		Results     []sarifResult     `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
		FullDescription  sarifText `json:"fullDescription"`
		Help             sarifText `json:"help"`
		Properties       struct {
			Tags []string `json:"tags"`
			// SecuritySeverity is a number from 0 to 10, which services map to critical, high, medium and low.
			SecuritySeverity string `json:"security-severity,omitempty"`
		} `json:"properties"`
	}
	// sarifInvocation lists the files that could not be scanned.
	sarifInvocation struct {
		Successful    bool        `json:"executionSuccessful"`
		Notifications []sarifNote `json:"toolExecutionNotifications"`
	}
	sarifNote struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		PhysicalLocation struct {
			ArtifactLocation sarifArtifact `json:"artifactLocation"`
			Region           sarifRegion   `json:"region"`
		} `json:"physicalLocation"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int        `json:"startLine"`
		StartColumn int        `json:"startColumn"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
)

// The rules that are not categories of the scan.
const (
	ruleSyntax  = "syntax"
	ruleBlocked = "blocked"
)

func sarifOf(all []scanned, unread []error) sarifLog {
	run := sarifRun{ColumnKind: "utf16CodeUnits", NewLines: []string{"\r\n", "\n", "\r", "\u2028", "\u2029"},
		Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "airlock", Version: api.Version(),
		InformationURI: "https://github.com/airlock-run/airlock", Rules: sarifRules()}
	invocation := sarifInvocation{Successful: len(unread) == 0, Notifications: []sarifNote{}}
	for _, err := range unread {
		invocation.Notifications = append(invocation.Notifications, sarifNote{"error", sarifText{err.Error()}})
	}
	run.Invocations = []sarifInvocation{invocation}
	for _, s := range all {
		if e := s.decision.SyntaxError; e != nil {
			run.add(s, ruleSyntax, "error", e.Message, s.region(e.Line, e.Column, ""))
		}
		for _, f := range s.decision.Analysis.Findings {
			run.add(s, f.Category, sarifLevel(f), f.Message, s.region(f.Line, f.Column, f.Excerpt))
		}
		for _, violation := range s.refusals() {
			run.add(s, ruleBlocked, "error", violation, s.region(1, 1, ""))
		}
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

func (run *sarifRun) add(s scanned, rule, level, message string, region sarifRegion) {
	r := sarifResult{RuleID: rule, Level: level, Message: sarifText{message}, Locations: make([]sarifLocation, 1)}
	r.RuleIndex = slices.IndexFunc(run.Tool.Driver.Rules, func(r sarifRule) bool { return r.ID == rule })
	r.Locations[0].PhysicalLocation.ArtifactLocation.URI = sarifURI(s.name)
	r.Locations[0].PhysicalLocation.Region = region
	run.Results = append(run.Results, r)
}

// region converts a position in characters into UTF-16 units, which SARIF counts by default and which not every
// service can be told to change.
func (s scanned) region(line, column int, excerpt string) sarifRegion {
	line, column = max(line, 1), max(column, 1)
	region := sarifRegion{StartLine: line, StartColumn: column}
	if excerpt != "" {
		region.Snippet = &sarifText{excerpt}
	}
	before := rune(0)
	for _, c := range s.text {
		switch {
		case line > 1 && c == '\n' && before == '\r': // that one was counted
		case line > 1 && (c == '\n' || c == '\u2028' || c == '\u2029' || c == '\r'):
			line--
		case line == 1 && column == 1:
			return region
		case line == 1 && !(c == '\n' && before == '\r'):
			column--
			region.StartColumn += utf16.RuneLen(c) - 1
		}
		before = c
	}
	return region
}

// sarifURI keeps a relative path relative, for services that show it in the repository.
func sarifURI(name string) string {
	if name == "-" {
		name = "stdin"
	}
	u := url.URL{Path: filepath.ToSlash(filepath.Clean(name))}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}

// sarifLevel returns the level of a finding. A power that the tier grants anyway is a note.
func sarifLevel(f threat.Finding) string {
	switch {
	case f.Score == 0:
		return "note"
	case f.Severity == threat.Critical, f.Severity == threat.High:
		return "error"
	case f.Severity == threat.Medium:
		return "warning"
	}
	return "note"
}

// sarifRules returns the categories of the scan and the other rules.
func sarifRules() []sarifRule {
	var rules []sarifRule
	for _, r := range []struct{ id, severity, what, help string }{
		{threat.CommandExecution, "9.5", "Runs commands of the host",
			"Remove the call: the sandbox has no host to run commands on."},
		{threat.CodeInjection, "9.5", "Turns data into code",
			"Call functions that are chosen by name, and read data with JSON.parse."},
		{threat.FilesystemAccess, "7.5", "Reads or changes files",
			"Pass what is needed as input, or use a tier that grants files."},
		{threat.NetworkRequest, "7.5", "Reaches the network",
			"Use a tier that grants the network, and ask the operator to open the host."},
		{threat.PrototypePollution, "7.5", "Changes prototypes that all objects share",
			"Keep data in a Map or in Object.create(null), and refuse such keys."},
		{threat.ModuleLoading, "5.0", "Loads modules", "Import modules that the tier provides, by a constant name."},
		{threat.EnvironmentAccess, "5.0", "Reads or ends the process it runs in",
			"Pass settings as input or env; return instead of exiting."},
		{threat.BufferManipulation, "5.0", "Allocates raw memory", "Allocate a constant size, no larger than needed."},
		{threat.TimerAbuse, "2.0", "Keeps timers running without end", "Clear every timer: the run ends at its time limit."},
		{threat.WebAssembly, "5.0", "Compiles WebAssembly",
			"Write it in JavaScript: there is no WebAssembly in the sandbox."},
		{threat.EncodingTricks, "2.0", "Hides names behind encodings", "Write names without escapes or encodings."},
		{threat.Unanalysed, "5.0", "Could not be parsed and was scanned by tokens only",
			"Use standard syntax and smaller sources."},
		{ruleSyntax, "", "Is not valid source text", "Correct the syntax at the reported position."},
		{ruleBlocked, "", "Would be blocked by the policy", "Remove what was found, or use a tier that permits it."},
	} {
		rule := sarifRule{ID: r.id, ShortDescription: sarifText{r.what}, FullDescription: sarifText{r.what + "."},
			Help: sarifText{r.help}}
		rule.Properties.Tags, rule.Properties.SecuritySeverity = []string{"security"}, r.severity
		rules = append(rules, rule)
	}
	return rules
}
