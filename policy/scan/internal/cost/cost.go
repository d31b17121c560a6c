package cost

// The costs, by what is counted. A parser's costs are predicted from the outline; a walk counts its own.
const (
	// workOfMost is the work that code of up to sizeOfMost bytes may take. Longer code may take more in proportion.
	workOfMost = 6_500_000
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
	SearchedByte = 4      // the walk: a byte of text that a regular expression searches

	IndexedNames = 16
	FewHoistWork = 3  // the tree parser: a name handed to a scope that has fewer
	TextBytes    = 2  // bytes of text that one unit passes over
	CopiedBytes  = 64 // bytes of text that one unit compares or copies
)

// MaxFindings bounds the findings that a result lists.
const MaxFindings = 100

// WorkFor returns the work that code of so many bytes may take.
func WorkFor(bytes int) int { return workOfMost * max(bytes, sizeOfMost) / sizeOfMost }

// A Budget is the work that is left of one scan, including the strings that the code runs as code.
type Budget struct {
	Left int
	// Exceeded reports whether something was left undone.
	Exceeded bool
}

// New returns a budget of the given work.
func New(work int) *Budget { return &Budget{Left: work} }

// Exhausted returns a budget that is already exceeded.
func Exhausted() *Budget { return &Budget{Exceeded: true} }

// Reset starts a new budget in place, for everything that shares b.
func (b *Budget) Reset(work int) { *b = Budget{Left: work} }

// Take spends work and reports whether there was enough left.
func (b *Budget) Take(work int) bool {
	if work > b.Left {
		b.Exceeded = true
		return false
	}
	b.Left -= work
	return true
}
