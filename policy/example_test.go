package policy_test

import (
	"fmt"

	"github.com/airlock-run/airlock/policy"
)

func ExampleSet_Decide() {
	set := policy.Default()
	for _, code := range []string{
		"const fib = n => n <= 1 ? n : fib(n-1) + fib(n-2); console.log(fib(10));",
		"const { exec } = require('child_process');\nexec('ls');",
	} {
		d := set.Decide(policy.Request{Code: code, Tier: "strict"})
		fmt.Println(d.Effect, d.Analysis.Level, d.Analysis.Score, d.Grants.Timeout)
		for _, f := range d.Analysis.Findings {
			fmt.Printf("  %d:%d %s (%s)\n", f.Line, f.Column, f.Category, f.Severity)
		}
	}
	// Output:
	// allow safe 0 5s
	// deny critical 23 0s
	//   1:9 command_execution (critical)
	//   1:18 command_execution (critical)
	//   1:18 module_loading (medium)
}
