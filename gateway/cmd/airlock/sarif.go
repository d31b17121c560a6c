package main

import (
	"net/url"
	"path/filepath"

	"github.com/airlock-run/airlock/policy"
)

// The part of SARIF 2.1.0 that says where something was found and how bad it is.
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
		// ColumnKind says that columns count characters, not UTF-16 units.
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
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
			Region           *sarifRegion  `json:"region,omitempty"`
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

// The rules that are no category of the scan.
const (
	ruleSyntax  = "syntax"
	ruleBlocked = "blocked"
)

func sarifOf(all []scanned) sarifLog {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "airlock", Version: version()}
	for _, category := range append(policy.Categories(), policy.Unanalysed, ruleSyntax, ruleBlocked) {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{category, sarifText{describeRule(category)}})
	}
	for _, s := range all {
		if e := s.decision.SyntaxError; e != nil {
			run.Results = append(run.Results, sarifAt(s.name, ruleSyntax, "error", e.Message, &sarifRegion{e.Line, e.Column, nil}))
		}
		for _, f := range s.decision.Analysis.Findings {
			region := &sarifRegion{StartLine: max(f.Line, 1), StartColumn: max(f.Column, 1)}
			if f.Excerpt != "" {
				region.Snippet = &sarifText{f.Excerpt}
			}
			run.Results = append(run.Results, sarifAt(s.name, f.Category, sarifLevel(f), f.Message, region))
		}
		for _, violation := range s.refusals() {
			run.Results = append(run.Results, sarifAt(s.name, ruleBlocked, "error", violation, nil))
		}
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

func sarifAt(name, rule, level, message string, region *sarifRegion) sarifResult {
	r := sarifResult{RuleID: rule, Level: level, Message: sarifText{message}, Locations: make([]sarifLocation, 1)}
	r.Locations[0].PhysicalLocation.ArtifactLocation.URI = sarifURI(name)
	r.Locations[0].PhysicalLocation.Region = region
	return r
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

// sarifLevel leaves a power that the tier grants anyway as a note.
func sarifLevel(f policy.Finding) string {
	switch {
	case f.Score == 0:
		return "note"
	case f.Severity == policy.Critical, f.Severity == policy.High:
		return "error"
	case f.Severity == policy.Medium:
		return "warning"
	}
	return "note"
}

func describeRule(id string) string {
	switch id {
	case policy.CommandExecution:
		return "Runs commands of the host"
	case policy.CodeInjection:
		return "Makes code out of data"
	case policy.FilesystemAccess:
		return "Reads or changes files"
	case policy.NetworkRequest:
		return "Reaches the network"
	case policy.PrototypePollution:
		return "Changes prototypes that all objects share"
	case policy.ModuleLoading:
		return "Loads modules"
	case policy.EnvironmentAccess:
		return "Reads or ends the process it runs in"
	case policy.BufferManipulation:
		return "Allocates raw memory"
	case policy.TimerAbuse:
		return "Keeps timers going without an end"
	case policy.WebAssembly:
		return "Compiles WebAssembly"
	case policy.EncodingTricks:
		return "Hides names behind encodings"
	case policy.Unanalysed:
		return "Could not be parsed and was scanned by tokens only"
	case ruleSyntax:
		return "Is not valid source text"
	}
	return "Would be blocked by the policy"
}
