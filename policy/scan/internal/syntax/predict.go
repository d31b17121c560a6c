package syntax

import (
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
)

// BudgetFor returns the budget that is left of work after the outline and after a scan by tokens, should it be needed.
func BudgetFor(o *Outline, work int) *cost.Budget {
	return cost.New(work - len(o.Src)/4 - o.tokens*(cost.OutlineWork+cost.RoughWork))
}

// The bounds of a parser's stack, whatever its time. esbuild has no limit of its own and kills the process when it
// recurses too deep. Within these bounds it stays under 2 MiB.
const (
	maxBrackets     = 900
	maxNesting      = 600
	maxFunctionWork = 300_000
	maxRawOpenings  = 60_000
	maxRawOperators = 80_000
	maxSuffixes     = 4_000
	// esbuild needs time in proportion to the square of the names that are declared twice.
	maxRedeclared    = 1_000
	sizeOfRedeclared = 256 << 10
	maxEscapeReports = cost.MaxFindings
)

// parseable reports whether the tree parser can take the code at all.
func (o *Outline) parseable() bool { return o.whole && o.brackets <= maxBrackets }

// worthParsing reports whether the budget is enough for the parser and for the walk after it. An unfinished attempt
// costs as much, and the scan by tokens comes on top.
func (o *Outline) worthParsing(b *cost.Budget) bool {
	work := o.parseWork()
	if b.Left < work+o.tokens*cost.WalkWork {
		b.Exceeded = true
		return false
	}
	return b.Take(work)
}

// parseWork predicts the work of the tree parser.
func (o *Outline) parseWork() int {
	return len(o.Src)/3 + o.tokens*cost.TokenWork + o.names*cost.NameWork + o.scopeWork + o.functions*cost.FunctionWork +
		o.groups*cost.GroupWork + o.arrowWork*5/4
}

// transformable reports whether esbuild can take the code at all.
func (o *Outline) transformable() bool {
	o.countRaw()
	return o.parseable() && o.nesting <= maxNesting && o.functionWork <= maxFunctionWork &&
		o.openings <= maxRawOpenings && o.operators <= maxRawOperators && o.suffixes <= maxSuffixes &&
		o.redeclared*o.redeclared <= maxRedeclared*maxRedeclared*max(len(o.Src), sizeOfRedeclared)/sizeOfRedeclared
}

// transformWork predicts the work of esbuild.
func (o *Outline) transformWork() int {
	lines := strings.Count(o.Src, "\n") + strings.Count(o.Src, "\r")
	return cost.CallWork + len(o.Src)/3 + o.tokens*cost.EsbuildWork + o.functions*4*cost.FunctionWork + lines*10 +
		o.linkWork*cost.LinkWork + o.privateWork*cost.PrivateWork
}

// countRaw counts openings and operators over the raw bytes.
func (o *Outline) countRaw() {
	o.openings, o.operators = 0, 0
	for i := range len(o.Src) {
		switch o.Src[i] {
		case '(', '[', '{', '<':
			o.openings++
		case '!', '~', '-', '+', '=', '?', ':', '*', '&', '|':
			o.operators++
		}
	}
}
