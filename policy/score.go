package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func quoted(s string) string { return strconv.Quote(clip(s, 60)) }

// granted reports whether the grants cover what a finding does: then it is no threat.
func (h hit) granted(g *Grants) bool {
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

// scored turns hits into findings and adds them to the analysis.
type scored struct {
	analysis *DangerAnalysis
	counts   map[string]int
}

func (s *scored) add(src *source, file string, hits []hit, g *Grants) {
	for _, h := range hits {
		f := Finding{Category: h.category, Severity: severity(h.category), Message: h.message, File: file, offset: h.offset}
		f.Line, f.Column = src.position(h.offset)
		f.Excerpt = src.excerpt(h.offset)
		if !h.granted(g) {
			f.Score = weight(h.category)
			if s.counts == nil {
				s.counts = map[string]int{}
			}
			if s.counts[h.category]++; s.counts[h.category] <= 2 {
				s.analysis.Score += f.Score
			}
		}
		s.analysis.Findings = append(s.analysis.Findings, f)
	}
}

// finish sorts, cuts and levels.
func (s *scored) finish() {
	a := s.analysis
	a.Findings = slices.CompactFunc(sorted(a.Findings), func(x, y Finding) bool {
		return x.offset == y.offset && x.Category == y.Category && x.File == y.File
	})
	if len(a.Findings) > maxFindings {
		a.Truncated = true
		slices.SortStableFunc(a.Findings, func(x, y Finding) int { return cmp.Compare(min(y.Score, 1), min(x.Score, 1)) })
		a.Findings = sorted(slices.Clone(a.Findings[:maxFindings]))
	}
	if a.Unanalysed {
		a.Score = max(a.Score, mediumScore)
	}
	a.Level = levelOf(a.Score)
}

func sorted(f []Finding) []Finding {
	slices.SortStableFunc(f, func(x, y Finding) int {
		return cmp.Or(strings.Compare(x.File, y.File), cmp.Compare(x.offset, y.offset), strings.Compare(x.Category, y.Category))
	})
	return f
}

// unanalysedFinding says that a source was scanned by tokens only.
func unanalysedFinding(file string, s *scanned) Finding {
	f := Finding{Category: Unanalysed, Severity: severity(Unanalysed), Score: mediumScore, File: file, offset: s.stuckAt,
		Message: "no parser here takes this code; it was scanned by tokens"}
	f.Line, f.Column = s.src.position(s.stuckAt)
	f.Excerpt = s.src.excerpt(s.stuckAt)
	if s.syntax != nil {
		f.Line, f.Column = s.syntax.Line, s.syntax.Column
	}
	return f
}
