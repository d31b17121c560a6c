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

// maxPolicyBytes exceeds the limit of a policy file, so that a longer file is refused and not cut.
const maxPolicyBytes = 2 << 20

// ReadRules returns the built-in tiers as changed by the file AIRLOCK_POLICY_FILE, with the hosts that EGRESS_ALLOW
// opens. text is the content of the file, nil if there is none. The error names the variable and each wrong line.
func ReadRules(getenv func(string) string) (rules *policy.Set, text []byte, err error) {
	rules = policy.Default()
	if path := getenv("AIRLOCK_POLICY_FILE"); path != "" {
		if text, err = readPolicy(path); err != nil {
			return nil, nil, fmt.Errorf("AIRLOCK_POLICY_FILE: %w", err)
		}
		// Callers see the reasons, which name the file without its folder.
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
	var installedNames []string
	on, err := ReadEngines(getenv)
	if err != nil {
		return nil, nil, err
	}
	rules = rules.WithEngines(on.Engines)
	if installed, err := OpenPackages(getenv); err == nil { // LoadPackages returns the error
		for _, p := range installed.List() {
			installedNames = append(installedNames, p.Name)
		}
	}
	rules = rules.WithPackages(installedNames...)
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
