package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// Each record is chained to the one before it. A verifier names a line that was changed or removed.
func ExampleSeal() {
	var lines [][]byte
	head := audit.Head{Writer: "01JD5Z6Q8V0000000000000000"}
	for _, id := range []string{"exec_first", "exec_second"} {
		record := audit.Record{ID: id, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Ending: audit.Ending{Status: "completed"}}
		sealed, err := audit.Seal(record, head, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		head = sealed.Head()
		lines = append(lines, sealed.Line)
	}
	_, err := audit.Unseal(lines[1], nil)
	fmt.Println("as it was stored:", err)

	forged := bytes.Replace(lines[1], []byte("completed"), []byte("error"), 1)
	_, err = audit.Unseal(forged, nil)
	fmt.Println("altered:", errors.Is(err, audit.ErrAltered))
	// Output:
	// as it was stored: <nil>
	// altered: true
}
