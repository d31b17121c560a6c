package scan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/flow"
	"github.com/airlock-run/airlock/policy/scan/internal/syntax"
	"github.com/airlock-run/airlock/policy/threat"
)

// granted reports whether the powers cover what a finding does, so that it is no threat.
func granted(h *flow.Hit, g *Powers) bool {
	if h.Attack {
		return false
	}
	if g.Eval && (confined(h.Category) || g.Network && h.Category == threat.NetworkRequest) {
		return true
	}
	switch h.Power {
	case catalogue.FilePower:
		return h.InFile
	case catalogue.EvalPower:
		return g.Eval
	case catalogue.NetworkPower:
		return g.Network
	case catalogue.ReadPower:
		return g.ReadFiles
	case catalogue.WritePower:
		return g.WriteFiles
	case catalogue.ModulePower:
		base, _, _ := strings.Cut(h.Module, "/")
		return !NeverProvided(base) && (HasModule(g.Modules, h.Module) || HasModule(g.Modules, base) ||
			g.hasPackage(h.Module))
	}
	return false
}

// dormant reports whether a finding is in a function that no code of the input calls, under powers for which that
// matters.
func (s *scanned) dormant(h *flow.Hit, g *Powers) bool {
	if g.Dormant && h.Category == threat.ModuleLoading && catalogue.IsPowerless(h.Module) {
		return true
	}
	return g.Dormant && !h.Attack && h.Category != threat.EncodingTricks &&
		s.functions != nil && !s.functions.Live(h.In)
}

// sure reports whether the code leads to a place by variables and calls alone.
func (s *scanned) sure(place any) bool { return s.functions == nil || s.functions.Sure(place) }

// confined reports whether findings of a category concern only the guest itself. Code that may run strings as code can
// do all of that in ways that no scan follows, so under such a tier these findings are notes and refuse nothing. The
// same holds for the network: a guest reaches only what its tier grants.
func confined(category string) bool {
	switch category {
	case threat.PrototypePollution, threat.ModuleLoading, threat.EnvironmentAccess, threat.BufferManipulation,
		threat.TimerAbuse, threat.WebAssembly:
		return true
	}
	return false
}

// unusual reports whether a finding concerns only the guest itself, or something that cannot succeed. Libraries contain
// such code for other hosts, so under a tier that refuses only critical code no number of these findings is critical.
// Commands, files and the like count as unusual unless the code certainly reaches them; see Sure of package reach.
func (s *scanned) unusual(h *flow.Hit) bool {
	switch h.Category {
	case threat.CommandExecution:
		return !s.unanalysed && !slices.ContainsFunc(h.Uses, s.sure)
	case threat.FilesystemAccess:
		return h.Vain || !slices.ContainsFunc(h.Uses, s.sure)
	case threat.NetworkRequest, threat.PrototypePollution:
		return h.Vain || h.Extends || !s.sure(h.In)
	case threat.CodeInjection:
		return h.Vain || h.Generated && h.Compiles || (h.Generated || h.Compiles) && !s.sure(h.In)
	case threat.ModuleLoading, threat.BufferManipulation, threat.TimerAbuse, threat.WebAssembly:
		return true
	case threat.EnvironmentAccess:
		return h.Vain || !strings.HasPrefix(h.Message, "process.env ") || !s.sure(h.In)
	}
	return h.Vain
}

// maxUnusual is the most that unusual findings add to the score together: the highest score below critical.
const maxUnusual = 9

// scored gathers the findings of all sources.
type scored struct {
	analysis *threat.Analysis
	found    []place
}

// place is a finding whose line and column are not computed yet.
type place struct {
	threat.Finding
	src    *syntax.Source
	offset int
	// unusual findings together add no more than maxUnusual.
	unusual bool
}

func (s *scored) add(from *scanned, g *Powers) {
	file := from.file
	for _, h := range from.hits {
		f := threat.Finding{Category: h.Category, Severity: threat.Severity(h.Category), Message: h.Message, File: file}
		h.InFile = file != ""
		switch {
		case granted(&h, g):
		case g.Dormant && h.Idle:
			f.Message += ", but does nothing by itself"
		case from.dormant(&h, g):
			f.Message += ", in a function that nothing here calls"
		default:
			f.Score = threat.Weight(h.Category)
		}
		if h.Attack {
			f.Severity, f.Score = threat.Critical, threat.Weight(threat.CommandExecution)
		}
		s.found = append(s.found, place{f, from.src, h.Offset, g.Dormant && !h.Attack && from.unusual(&h)})
	}
	s.analysis.Truncated = s.analysis.Truncated || from.dropped
	if !from.unanalysed {
		return
	}
	s.analysis.Unanalysed = true
	why := "the code cannot be parsed"
	if from.costly {
		why = "scanning this code would exceed the limit on work"
	}
	s.found = append(s.found, place{threat.Finding{Category: threat.Unanalysed,
		Severity: threat.Severity(threat.Unanalysed), Score: threat.MediumScore, File: file,
		Message: why + "; it was scanned by tokens"}, from.src, from.stuckAt, false})
}

// finish completes the analysis: it sorts, scores, cuts and locates the findings.
func (s *scored) finish() {
	a := s.analysis
	inOrder(s.found)
	s.found = slices.CompactFunc(s.found, func(x, y place) bool {
		return x.offset == y.offset && x.Category == y.Category && x.File == y.File
	})
	counts := map[string]int{} // two of each category count, those before others that are not unusual
	a.Score = s.sum(false, counts)
	powers := false // whether a power is used for certain
	for category := range counts {
		powers = powers || !confined(category) && threat.Weight(category) >= threat.Weight(threat.NetworkRequest)
	}
	light := min(s.sum(true, counts), maxUnusual)
	if !powers {
		light = min(light, max(maxUnusual-a.Score, 0))
	}
	a.Score += light
	if a.Unanalysed {
		a.Score = max(a.Score, threat.MediumScore)
	}
	a.Level = threat.LevelOf(a.Score)
	if len(s.found) > cost.MaxFindings {
		a.Truncated = true
		slices.SortStableFunc(s.found, func(x, y place) int { return cmp.Compare(min(y.Score, 1), min(x.Score, 1)) })
		s.found = s.found[:cost.MaxFindings]
		inOrder(s.found)
	}
	for _, f := range s.found {
		f.Line, f.Column = f.src.Position(f.offset)
		f.Excerpt = f.src.Excerpt(f.offset)
		a.Findings = append(a.Findings, f.Finding)
	}
}

// sum adds the scores of the unusual findings or of the others, while fewer than two of their category are counted.
func (s *scored) sum(unusual bool, counts map[string]int) int {
	total := 0
	for _, f := range s.found {
		if f.unusual != unusual || f.Score == 0 || f.Category == threat.Unanalysed || counts[f.Category] == 2 {
			continue
		}
		counts[f.Category]++
		total += f.Score
	}
	return total
}

func inOrder(found []place) {
	slices.SortStableFunc(found, func(x, y place) int {
		return cmp.Or(strings.Compare(x.File, y.File), cmp.Compare(x.offset, y.offset),
			strings.Compare(x.Category, y.Category))
	})
}
