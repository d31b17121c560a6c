package contract_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)

// TestWorkflows: workflows run the same checks as this machine, with pinned actions and with no more rights than they
// need.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var workflow struct {
				Permissions map[string]string
				Jobs        map[string]struct {
					Timeout     int `yaml:"timeout-minutes"`
					Permissions map[string]string
					Steps       []struct{ Uses, Run string }
				}
			}
			if err := yaml.Unmarshal(read(t, file), &workflow); err != nil {
				t.Fatal(err)
			}
			if len(workflow.Permissions) != 1 || workflow.Permissions["contents"] != "read" {
				t.Errorf("permissions %v: must be contents: read, and more only where a job says so", workflow.Permissions)
			}
			checks := false
			for name, job := range workflow.Jobs {
				if job.Timeout == 0 {
					t.Errorf("%s has no timeout", name)
				}
				for _, step := range job.Steps {
					if step.Uses != "" && !pinned.MatchString(step.Uses) {
						t.Errorf("%s uses %s, which is not pinned to a commit", name, step.Uses)
					}
					if strings.Contains(step.Run, "@latest") {
						t.Errorf("%s runs %q, which is not pinned to a version", name, step.Run)
					}
					checks = checks || step.Run == "bash .ci/run"
				}
			}
			if !checks {
				t.Error("does not run .ci/run")
			}
		})
	}
}
