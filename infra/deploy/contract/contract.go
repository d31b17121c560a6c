package contract

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Tier is what the template must give to the function that runs one policy tier.
type Tier struct {
	Name        string
	Timeout     time.Duration
	MemoryBytes int64
}

// ProcessBytes is what a function process needs beside the guest's memory: its own code, image, heap and stacks.
const ProcessBytes = 160 << 20

// Violation is one promise that a resource breaks.
type Violation struct {
	Rule     string // append-only code, "bucket-tls"
	Resource string // logical name
	Detail   string
}

// String gives one line.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Rule, v.Resource, v.Detail) }

// report collects what rules find.
type report struct{ found []Violation }

func (r *report) add(rule, resource, format string, args ...any) {
	r.found = append(r.found, Violation{Rule: rule, Resource: resource, Detail: fmt.Sprintf(format, args...)})
}

// Check holds a template against the contract. Every tier must have a function, unless tiers is empty. The error is
// for a template that cannot be read at all.
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
	checkKeys(t, r)
	checkLogs(t, r)
	checkFunctions(t, tiers, r)
	checkSources(t, r)
	checkJobs(t, r)
	checkSecrets(t, r)
	checkNetwork(t, r)
	slices.SortFunc(r.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Detail, b.Detail))
	})
	return r.found, nil
}
