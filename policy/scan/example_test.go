package scan_test

import (
	"fmt"

	"github.com/airlock-run/airlock/policy/scan"
)

func ExampleSource() {
	code := `const f = globalThis["ev" + "al"]; f("1"); // eval is hidden` + "\n" +
		`await fetch("https://api.example.com");`
	found := scan.Source(code, scan.Powers{Network: true})
	fmt.Println(found.Analysis.Level, found.Analysis.Score)
	for _, f := range found.Analysis.Findings {
		fmt.Printf("%d:%d %s scores %d\n", f.Line, f.Column, f.Category, f.Score)
	}
	// Output:
	// critical 10
	// 1:11 code_injection scores 10
	// 2:7 network_request scores 0
}
