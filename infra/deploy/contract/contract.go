package contract

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Tier holds the requirements of the function of one policy tier.
type Tier struct {
	Name        string
	Timeout     time.Duration
	MemoryBytes int64
}

// ProcessBytes is the memory of a function process beyond the guest's: its code, image, heap and stacks.
const ProcessBytes = 160 << 20

// A Violation is a rule that a resource breaks.
type Violation struct {
	Rule     string // append-only code, "bucket-tls"
	Resource string // logical name
	Detail   string
}

// String returns one line.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Rule, v.Resource, v.Detail) }

// report collects the violations.
type report struct{ found []Violation }

func (r *report) add(rule, resource, format string, args ...any) {
	r.found = append(r.found, Violation{Rule: rule, Resource: resource, Detail: fmt.Sprintf(format, args...)})
}

// Check returns the violations of the contract in a template. Every tier must have a function, unless tiers is empty.
// It fails if the template cannot be read.
func Check(data []byte, tiers []Tier) ([]Violation, error) {
	t, err := parse(data)
	if err != nil {
		return nil, err
	}
	r := &report{}
	checkStatements(t, r)
	checkWriteOnly(t, r)
	checkBuckets(t, r)
	checkQueues(t, r)
	checkTables(t, r)
	checkKeys(t, r)
	checkLogs(t, r)
	checkFunctions(t, tiers, r)
	checkSources(t, r)
	checkJobs(t, r)
	checkWakes(t, r)
	checkSecrets(t, r)
	checkNetwork(t, r)
	slices.SortFunc(r.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Detail, b.Detail))
	})
	return r.found, nil
}
