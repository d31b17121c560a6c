package audit

import "fmt"

// A Fault is a kind of problem. Codes are append-only.
type Fault string

// The faults.
const (
	// Missing means that a record is not there although its chain proves that it existed.
	Missing Fault = "missing"
	// Altered means that the bytes are not those that were hashed, or not those that the next record was chained to.
	Altered Fault = "altered"
	// Reordered means that the record comes after one that its writer wrote later.
	Reordered Fault = "reordered"
	// Truncated means that the newest records of a chain are gone.
	Truncated Fault = "truncated"
	// Duplicated means that the same place in a chain occurs twice.
	Duplicated Fault = "duplicated"
	// Unknown means a record, or a whole chain, that the store's own account of its writers does not list.
	Unknown Fault = "unknown"
	// Unreadable means something in the store that should be a record, a head or a ledger line, but is not.
	Unreadable Fault = "unreadable"
	// Misfiled means that a record is filed under a day that is not its own. Retention removes it early or never.
	Misfiled Fault = "misfiled"
)

// A Problem describes one bad record. ID, Writer, Seq and Place are set if they are known.
type Problem struct {
	Fault  Fault  `json:"fault"`
	ID     string `json:"id,omitempty"`
	Writer string `json:"writer,omitempty"`
	Seq    int64  `json:"seq,omitempty"`
	// Place is the position in the store: a file with line or offset, or the key of an object.
	Place  string `json:"place,omitempty"`
	Detail string `json:"detail"`
}

// String returns the problem as one line for people.
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

// A Report is the outcome of a verification.
type Report struct {
	Records int64 `json:"records"`
	Writers int   `json:"writers"`
	// Problems is empty if every record is there, unaltered and in order.
	Problems []Problem `json:"problems"`
	// Omitted counts the problems beyond the first 10,000.
	Omitted int `json:"omitted,omitempty"`
	// Anchors are what the chains were compared with besides the store's own account. Without any, a store that was rolled
	// back as a whole, or emptied, is not detected.
	Anchors []Anchored `json:"anchors"`
}

// OK reports whether nothing is wrong.
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
