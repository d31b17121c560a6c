package scan

import (
	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
)

// Work returns the work that scanning the code takes, in units, and the work that it may take.
func Work(code, language string) (taken, most int) {
	a := analysis{catalogue: catalogue.New()}
	return a.source(code, language, "", cost.WorkFor(len(code))).work, cost.WorkFor(len(code))
}
