package scan

import "strings"

// What a scan costs is counted, not timed, so that the same code always has the same answer. A unit of work is some ten
// nanoseconds. What a parser will need is foretold from the outline; a walk counts what it does. Code that would take more
// than its share is scanned by tokens, and the finding threat.Unanalysed says so.
const (
	// workOfMost is what code of up to sizeOfMost bytes may take; longer code has in proportion.
	workOfMost = 2_000_000
	sizeOfMost = 256 << 10

	outlineWork  = 4      // the outline: a token
	roughWork    = 6      // the scan by tokens: a token
	tokenWork    = 6      // the tree parser: a token
	nameWork     = 25     // the tree parser: a name seen first
	hoistWork    = 22     // the tree parser: a name handed to the scope around that has more than indexedNames
	functionWork = 25     // the tree parser: a function
	groupWork    = 25     // the tree parser: a bracket that may hold parameters, or a pattern
	esbuildWork  = 50     // esbuild: a token, read and written again
	callWork     = 10_000 // esbuild: a source, whatever is in it
	nodeWork     = 10     // the walk: a node
	walkWork     = 6      // the walk: a token, at the least
	linkWork     = 2      // esbuild: an operator or a comma, for each one before it in its chain
	privateWork  = 6      // esbuild: a private name, for each one before it
	leastWork    = 22     // all of them: a token, at the least
	valueWork    = 5      // the walk: a value made or compared
	elementWork  = 12     // the walk: an element of an array made of text
	nestedWork   = 500    // the walk: a string run as code
	patternWork  = 3_000  // the walk: a regular expression

	indexedNames = 16
	fewHoistWork = 3  // the tree parser: a name handed to a scope that has fewer
	textBytes    = 2  // bytes of text that one unit passes over
	copiedBytes  = 64 // bytes of text that one unit compares or copies
)

// workFor gives the work that code of so many bytes may take.
func workFor(bytes int) int { return workOfMost * max(bytes, sizeOfMost) / sizeOfMost }

// budget is the work that is left of one scan, the strings that it runs as code included.
type budget struct {
	left int
	// exceeded reports that something was left undone.
	exceeded bool
}

// budgetFor returns what is left of work after the outline, and after what scanning by tokens would need in the end.
func budgetFor(o *outline, work int) *budget {
	return &budget{left: work - len(o.src)/4 - o.tokens*(outlineWork+roughWork)}
}

// take spends work, unless there is too little of it left.
func (b *budget) take(work int) bool {
	if work > b.left {
		b.exceeded = true
		return false
	}
	b.left -= work
	return true
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
func (b *budget) worthParsing(o *outline) bool {
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
