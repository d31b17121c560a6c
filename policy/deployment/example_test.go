package deployment_test

import (
	"fmt"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/deployment"
)

func ExampleParse() {
	set, err := deployment.Parse("policy.yaml", []byte("hosts: [api.example.com]\ntenants: {acme: {tiers: [strict]}}\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Decide(policy.Request{Code: "1", Hosts: []string{"api.example.com"}}).Effect)
	fmt.Println(set.Decide(policy.Request{Code: "1", Tenant: "acme"}).Violations[0])

	_, err = deployment.Parse("policy.yaml", []byte("tiers: {strict: {timeout: 6s}}\n"))
	fmt.Println(err)
	// Output:
	// allow
	// the tenant does not permit policy "standard", only strict
	// policy.yaml:1: timeout of the built-in tier strict may only be tightened; add a tier of your own instead
}
