package policy_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// A tier grants those packages of the deployment that it lists, and a grant makes an import no finding.
func TestPackages(t *testing.T) {
	t.Parallel()
	set := parsed(t, "version: 1\ntiers:\n  standard: {packages: [lodash, absent]}\n").WithPackages("@s/x", "lodash")
	for _, c := range []struct {
		tier string
		want []string
	}{{"strict", nil}, {"standard", []string{"lodash"}}, {"agent", []string{"@s/x", "lodash"}}} {
		d := set.Decide(policy.Request{Code: "1", Tier: c.tier})
		if !slices.Equal(d.Grants.Packages, c.want) {
			t.Errorf("%s grants %q", c.tier, d.Grants.Packages)
		}
	}
	for _, tier := range set.Tiers() {
		b, err := json.Marshal(tier)
		var got struct{ Packages []string }
		if err := errors.Join(err, json.Unmarshal(b, &got)); err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{"standard": {"lodash"}, "extended": {"@s/x", "lodash"}, "agent": {"@s/x", "lodash"}}
		if !slices.Equal(got.Packages, want[tier.Name]) {
			t.Errorf("%s lists %q", tier.Name, got.Packages)
		}
	}
	for code, score := range map[string]int{
		"import get from 'lodash/get'; get({}, 'a')": 0, "require('lodash').chunk([1], 1)": 0,
		"import x from 'lodash-other'; x": 3, "import x from '@s/x'; x": 3,
	} {
		if d := set.Decide(policy.Request{Code: code}); d.Analysis.Score != score {
			t.Errorf("%s scores %d", code, d.Analysis.Score)
		}
	}
	if d := policy.Default().Decide(policy.Request{Code: "1"}); d.Grants.Packages != nil {
		t.Errorf("a deployment without packages grants %q", d.Grants.Packages)
	}
}
