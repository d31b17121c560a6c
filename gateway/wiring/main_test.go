package wiring

import (
	"fmt"
	"os"
	"testing"
)

// TestMain serves as the scan worker that the tests of ScanReader start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "scanner" {
		fmt.Fprintln(os.Stderr, ServeScans(os.Stdin, os.Stdout))
		os.Exit(1)
	}
	os.Exit(m.Run())
}
