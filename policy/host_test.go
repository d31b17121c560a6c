package policy_test

import (
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// TestWithHostsRefusesClosedAddresses checks that an address that no setting opens is an error, not a setting without
// effect.
func TestWithHostsRefusesClosedAddresses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host string
		ok   bool
	}{
		"metadata":             {"169.254.169.254", false},
		"metadata, a port":     {"169.254.169.254:80", false},
		"metadata, decimal":    {"2852039166", false},
		"metadata over IPv6":   {"[fd00:ec2::254]", false},
		"metadata, mapped":     {"[::ffff:169.254.169.254]:80", false},
		"metadata, NAT64":      {"[64:ff9b::a9fe:a9fe]", false},
		"Azure's host":         {"168.63.129.16", false},
		"unspecified":          {"0.0.0.0", false},
		"link-local":           {"[fe80::1]", false},
		"loopback":             {"127.0.0.1:8080", true},
		"loopback over IPv6":   {"[::1]:8080", true},
		"private":              {"10.0.0.1", true},
		"private, mapped":      {"[::ffff:10.0.0.1]", true},
		"a name like a number": {"169.254.example", true},
		"a wildcard":           {"*.corp", true},
	} {
		_, err := policy.Default().WithHosts("EGRESS_ALLOW", c.host)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "no setting opens") {
			t.Errorf("%s: %s: %v", name, c.host, err)
		}
	}
}
