package cost

// What a scan costs is counted, not timed, so that the same code always has the same answer. A unit of work is some ten
// nanoseconds. What a parser will need is foretold from the outline; a walk counts what it does. Code that would take more
// than its share is scanned by tokens, and the finding threat.Unanalysed says so.
const (
	// workOfMost is what code of up to sizeOfMost bytes may take; longer code has in proportion.
	workOfMost = 2_000_000
	sizeOfMost = 256 << 10

	OutlineWork  = 4      // the outline: a token
	RoughWork    = 6      // the scan by tokens: a token
	TokenWork    = 6      // the tree parser: a token
	NameWork     = 25     // the tree parser: a name seen first
	HoistWork    = 22     // the tree parser: a name handed to the scope around that has more than indexedNames
	FunctionWork = 25     // the tree parser: a function
	GroupWork    = 25     // the tree parser: a bracket that may hold parameters, or a pattern
	EsbuildWork  = 50     // esbuild: a token, read and written again
	CallWork     = 10_000 // esbuild: a source, whatever is in it
	NodeWork     = 10     // the walk: a node
	WalkWork     = 6      // the walk: a token, at the least
	LinkWork     = 2      // esbuild: an operator or a comma, for each one before it in its chain
	PrivateWork  = 6      // esbuild: a private name, for each one before it
	LeastWork    = 22     // all of them: a token, at the least
	ValueWork    = 5      // the walk: a value made or compared
	ElementWork  = 12     // the walk: an element of an array made of text
	NestedWork   = 500    // the walk: a string run as code
	PatternWork  = 3_000  // the walk: a regular expression

	IndexedNames = 16
	FewHoistWork = 3  // the tree parser: a name handed to a scope that has fewer
	TextBytes    = 2  // bytes of text that one unit passes over
	CopiedBytes  = 64 // bytes of text that one unit compares or copies
)

// maxFindings bounds the findings of a scan that are listed.
const MaxFindings = 100

// WorkFor returns the work that code of so many bytes may take.
func WorkFor(bytes int) int { return workOfMost * max(bytes, sizeOfMost) / sizeOfMost }

// Budget is the work that is left of one scan, the strings that it runs as code included.
type Budget struct {
	Left int
	// exceeded reports that something was left undone.
	Exceeded bool
}

// New returns a budget of so much work.
func New(work int) *Budget { return &Budget{Left: work} }

// Exhausted returns a budget that is exceeded already.
func Exhausted() *Budget { return &Budget{Exceeded: true} }

// Reset makes a budget of so much work of b, which others share.
func (b *Budget) Reset(work int) { *b = Budget{Left: work} }

// Take spends work, unless there is too little of it left.
func (b *Budget) Take(work int) bool {
	if work > b.Left {
		b.Exceeded = true
		return false
	}
	b.Left -= work
	return true
}
