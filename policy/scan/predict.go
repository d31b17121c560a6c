package scan

import "strings"

// budgetFor returns what is left of work after the outline, and after what scanning by tokens would need in the end.
func budgetFor(o *outline, work int) *budget {
	return newBudget(work - len(o.src)/4 - o.tokens*(outlineWork+roughWork))
}

// The bounds of what parsers may have on their stack, which is not a matter of time: esbuild has no limit of its own and kills
// the process when it recurses too deep. Within these it stays under 2 MiB.
const (
	maxBrackets      = 900
	maxNesting       = 600
	maxFunctionWork  = 300_000
	maxRawOpenings   = 60_000
	maxRawOperators  = 80_000
	maxSuffixes      = 4_000
	maxRedeclared    = 1_000
	maxEscapeReports = maxFindings
)

// parseable reports whether the tree parser may have the code at all.
func (o *outline) parseable() bool { return o.whole && o.brackets <= maxBrackets }

// worthParsing reports whether what is left would do for the parser and for the walk after it: what is begun and left undone costs
// as much, and the scan by tokens comes on top.
func (o *outline) worthParsing(b *budget) bool {
	work := o.parseWork()
	if b.left < work+o.tokens*walkWork {
		b.exceeded = true
		return false
	}
	return b.take(work)
}

// parseWork foretells what the tree parser needs.
func (o *outline) parseWork() int {
	return len(o.src)/3 + o.tokens*tokenWork + o.names*nameWork + o.scopeWork + o.functions*functionWork + o.groups*groupWork + o.arrowWork*5/4
}

// transformable reports whether esbuild may have the code at all.
func (o *outline) transformable() bool {
	o.countRaw()
	return o.parseable() && o.nesting <= maxNesting && o.functionWork <= maxFunctionWork &&
		o.openings <= maxRawOpenings && o.operators <= maxRawOperators && o.suffixes <= maxSuffixes && o.redeclared <= maxRedeclared
}

// transformWork foretells what esbuild needs.
func (o *outline) transformWork() int {
	lines := strings.Count(o.src, "\n") + strings.Count(o.src, "\r")
	return callWork + len(o.src)/3 + o.tokens*esbuildWork + o.functions*4*functionWork + lines*10 + o.linkWork*linkWork + o.privateWork*privateWork
}

// countRaw counts over the raw bytes.
func (o *outline) countRaw() {
	o.openings, o.operators = 0, 0
	for i := range len(o.src) {
		switch o.src[i] {
		case '(', '[', '{', '<':
			o.openings++
		case '!', '~', '-', '+', '=', '?', ':', '*', '&', '|':
			o.operators++
		}
	}
}
