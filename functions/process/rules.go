package process

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/airlock-run/airlock/functions/process/smallfile"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/deployment"
)

// maxPolicyBytes bounds a policy file.
const maxPolicyBytes = 1 << 20

// ReadRules returns the built-in tiers as changed by the file AIRLOCK_POLICY_FILE, with the hosts that EGRESS_ALLOW
// opens. text is the content of the file, nil if there is none. The error names the variable and each wrong line.
func ReadRules(getenv func(string) string) (rules *policy.Set, text []byte, err error) {
	rules = policy.Default()
	if path := getenv("AIRLOCK_POLICY_FILE"); path != "" {
		if text, err = smallfile.Read(path, maxPolicyBytes); err != nil {
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
