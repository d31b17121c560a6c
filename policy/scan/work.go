package scan

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

// maxFindings bounds the findings of a scan that are listed.
const maxFindings = 100

// workFor returns the work that code of so many bytes may take.
func workFor(bytes int) int { return workOfMost * max(bytes, sizeOfMost) / sizeOfMost }

// budget is the work that is left of one scan, the strings that it runs as code included.
type budget struct {
	left int
	// exceeded reports that something was left undone.
	exceeded bool
}

// newBudget returns a budget of so much work.
func newBudget(work int) *budget { return &budget{left: work} }

// noBudget returns a budget that is exceeded already.
func noBudget() *budget { return &budget{exceeded: true} }

// reset makes a budget of so much work of b, which others share.
func (b *budget) reset(work int) { *b = budget{left: work} }

// take spends work, unless there is too little of it left.
func (b *budget) take(work int) bool {
	if work > b.left {
		b.exceeded = true
		return false
	}
	b.left -= work
	return true
}
