package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func quoted(s string) string { return strconv.Quote(clip(s, 60)) }

// granted reports whether the powers cover what a finding does: then it is no threat.
func (h hit) granted(g *Powers) bool {
	switch h.power {
	case evalPower:
		return g.Eval
	case networkPower:
		return g.Network == NetworkAllowlist || g.Network == NetworkPublic
	case readPower:
		return g.Files == FilesRead || g.Files == FilesWrite
	case writePower:
		return g.Files == FilesWrite
	case modulePower:
		base, _, _ := strings.Cut(h.module, "/")
		return !neverProvided(base) && (moduleGranted(g.Modules, h.module) || moduleGranted(g.Modules, base))
	}
	return false
}

// scored gathers the findings of all sources.
type scored struct {
	analysis *DangerAnalysis
	found    []place
}

// place is a finding whose position is not worked out yet.
type place struct {
	Finding
	src    *source
	offset int
}

func (s *scored) add(file string, from *scanned, g *Powers) {
	for _, h := range from.hits {
		f := Finding{Category: h.category, Severity: severity(h.category), Message: h.message, File: file}
		if !h.granted(g) {
			f.Score = weight(h.category)
		}
		s.found = append(s.found, place{f, &from.src, h.offset})
	}
	s.analysis.Truncated = s.analysis.Truncated || from.dropped
	if !from.unanalysed {
		return
	}
	s.analysis.Unanalysed = true
	why := "no parser here takes this code"
	if from.costly {
		why = "this code would take more work than a scan may"
	}
	s.found = append(s.found, place{Finding{Category: Unanalysed, Severity: severity(Unanalysed), Score: mediumScore, File: file,
		Message: why + "; it was scanned by tokens"}, &from.src, from.stuckAt})
}

// finish sorts, scores, cuts and places the findings.
func (s *scored) finish() {
	a := s.analysis
	inOrder(s.found)
	s.found = slices.CompactFunc(s.found, func(x, y place) bool {
		return x.offset == y.offset && x.Category == y.Category && x.File == y.File
	})
	counts := map[string]int{}
	for _, f := range s.found {
		if f.Score == 0 || f.Category == Unanalysed {
			continue
		}
		if counts[f.Category]++; counts[f.Category] <= 2 {
			a.Score += f.Score
		}
	}
	if a.Unanalysed {
		a.Score = max(a.Score, mediumScore)
	}
	a.Level = levelOf(a.Score)
	if len(s.found) > maxFindings {
		a.Truncated = true
		slices.SortStableFunc(s.found, func(x, y place) int { return cmp.Compare(min(y.Score, 1), min(x.Score, 1)) })
		s.found = s.found[:maxFindings]
		inOrder(s.found)
	}
	for _, f := range s.found {
		f.Line, f.Column = f.src.position(f.offset)
		f.Excerpt = f.src.excerpt(f.offset)
		a.Findings = append(a.Findings, f.Finding)
	}
}

func inOrder(found []place) {
	slices.SortStableFunc(found, func(x, y place) int {
		return cmp.Or(strings.Compare(x.File, y.File), cmp.Compare(x.offset, y.offset), strings.Compare(x.Category, y.Category))
	})
}
