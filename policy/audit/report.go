package audit

import "fmt"

// Fault is what is wrong with a record. Codes are append-only.
type Fault string

// The faults.
const (
	// Missing: a record that its chain proves to have existed is not there.
	Missing Fault = "missing"
	// Altered: the bytes are not the ones that were hashed, or not the ones that the next record was chained to.
	Altered Fault = "altered"
	// Reordered: the record stands behind one that its writer wrote later.
	Reordered Fault = "reordered"
	// Truncated: the newest records of a chain are gone.
	Truncated Fault = "truncated"
	// Duplicated: the same place in a chain is there twice.
	Duplicated Fault = "duplicated"
	// Unknown: a record, or a whole chain, that the store's own account of its writers does not have.
	Unknown Fault = "unknown"
	// Unreadable: something in the store that should be a record, a head or a ledger line, and is not.
	Unreadable Fault = "unreadable"
)

// Problem names one bad record. Of ID, Writer, Seq and Place those that are known are set.
type Problem struct {
	Fault  Fault  `json:"fault"`
	ID     string `json:"id,omitempty"`
	Writer string `json:"writer,omitempty"`
	Seq    int64  `json:"seq,omitempty"`
	// Place is where in the store: a file with line or offset, or an object's key.
	Place  string `json:"place,omitempty"`
	Detail string `json:"detail"`
}

// String is one line for a person.
func (p Problem) String() string {
	s := string(p.Fault)
	if p.ID != "" {
		s += " " + p.ID
	}
	if p.Writer != "" {
		s += fmt.Sprintf(" (writer %s", p.Writer)
		if p.Seq > 0 {
			s += fmt.Sprintf(", record %d", p.Seq)
		}
		s += ")"
	}
	if p.Place != "" {
		s += " at " + p.Place
	}
	return s + ": " + p.Detail
}

// Report is the outcome of a verification.
type Report struct {
	Records int64 `json:"records"`
	Writers int   `json:"writers"`
	// Problems is empty when every record is there, unaltered and in its order.
	Problems []Problem `json:"problems"`
	// Omitted counts the problems beyond the first 10,000.
	Omitted int `json:"omitted,omitempty"`
	// Anchors are what the chains were held against besides the store's own account. Without any, a store that was put
	// back to an older state as a whole, or emptied, is not found out.
	Anchors []Anchored `json:"anchors"`
}

// OK reports that nothing is wrong.
func (r Report) OK() bool { return len(r.Problems) == 0 }

// maxProblems bounds a report.
const maxProblems = 10_000

func (r *Report) add(p Problem) {
	if r.full() {
		r.Omitted++
		return
	}
	r.Problems = append(r.Problems, p)
}

func (r *Report) full() bool { return len(r.Problems) >= maxProblems }
