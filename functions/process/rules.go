package process

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/deployment"
)

// maxPolicyBytes is more than a policy file may have, so that a longer one is refused for its length and not cut.
const maxPolicyBytes = 2 << 20

// ReadRules gives the built-in tiers, what the file that AIRLOCK_POLICY_FILE names makes of them, and the hosts that
// EGRESS_ALLOW opens. text is the file's, nil without one. The error names the variable, and for the file each line.
func ReadRules(getenv func(string) string) (rules *policy.Set, text []byte, err error) {
	rules = policy.Default()
	if path := getenv("AIRLOCK_POLICY_FILE"); path != "" {
		if text, err = readPolicy(path); err != nil {
			return nil, nil, fmt.Errorf("AIRLOCK_POLICY_FILE: %w", err)
		}
		// Reasons are given to callers, and name the file: not where it lies.
		if rules, err = deployment.Parse(filepath.Base(path), text); err != nil {
			return nil, nil, fmt.Errorf("AIRLOCK_POLICY_FILE: %w", err)
		}
	}
	var hosts []string
	for host := range strings.SplitSeq(getenv("EGRESS_ALLOW"), ",") {
		if host = strings.TrimSpace(host); host != "" {
			hosts = append(hosts, host)
		}
	}
	rules, err = rules.WithHosts("EGRESS_ALLOW", hosts...)
	return rules, text, err
}

func readPolicy(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return io.ReadAll(io.LimitReader(f, maxPolicyBytes))
}
