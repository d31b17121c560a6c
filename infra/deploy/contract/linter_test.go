package contract_test

import (
	"os/exec"
	"testing"
)

// TestLinter runs cfn-lint over the templates where it is installed. It is a Python program that this build does not
// fetch: the test is skipped where it is missing, and infra/deploy/README.md says how to run it.
func TestLinter(t *testing.T) {
	if err := exec.Command("cfn-lint", "--version").Run(); err != nil {
		t.Logf("cfn-lint is not installed (%v): the templates were not linted", err)
		return
	}
	if out, err := exec.Command("cfn-lint", "-t", root, fargate).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
