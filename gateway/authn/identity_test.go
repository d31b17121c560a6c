package authn_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
)

func TestNoTwoKindsShareASubject(t *testing.T) {
	t.Parallel()
	key := must[authn.Key](t)(authn.SecretKey([]byte(secret)))
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{Keys: []authn.Key{key}, Now: clock}))
	owners := map[string]string{}
	add := func(name string, id authn.Identity) {
		t.Helper()
		if before, taken := owners[id.Owner()]; taken {
			t.Errorf("%s owns what %s owns: %q", name, before, id.Owner())
		}
		owners[id.Owner()] = name
	}
	add("the operator", authn.Operator())
	add("the local user", authn.Local())
	add("a webhook", authn.Hook(authn.DefaultTenant, "f"))
	add("a schedule", authn.Schedule(authn.DefaultTenant, "f"))
	issuers := []string{"", "https://a", "https://a/", "https://a/b", "key:operator", "local", "%2F"}
	subjects := []string{
		"", "api-key", "key:operator", "local", "hook:f", "schedule:f", "jwt:/local", "b/c", "b%2Fc", "c", "%", "%25", "/",
		"//", "former:api-key",
		"jwt:https://a/alice", "alice", "Alice", "alice ", "älice", "a\u0308lice",
	}
	for _, issuer := range issuers {
		for _, subject := range subjects {
			claims := with("sub", subject)
			claims["iss"] = issuer
			id, err := a.Authenticate("Bearer "+sign(t, jwt.SigningMethodHS256, []byte(secret), nil, claims), "")
			if err != nil {
				t.Fatalf("iss %q, sub %q: %v", issuer, subject, err)
			}
			add(fmt.Sprintf("iss %q, sub %q", issuer, subject), id)
			if sub, isToken := execution.TokenSub(id.Subject); !isToken || sub != subject {
				t.Errorf("%q reads as sub %q, %t; want %q", id.Subject, sub, isToken, subject)
			}
			if id.Anonymous() != (subject == "") {
				t.Errorf("%q: anonymous %t", id.Subject, id.Anonymous())
			}
		}
	}
}

func TestReservedTenantRefused(t *testing.T) {
	t.Parallel()
	key := must[authn.Key](t)(authn.SecretKey([]byte(secret)))
	for claim, tenants := range map[string][]string{"tenant": {"default", ""}, "org": {"default", ""}} {
		a := must[*authn.Authenticator](t)(authn.New(authn.Config{Keys: []authn.Key{key}, TenantClaim: claim, Now: clock}))
		for _, tenant := range tenants {
			_, err := a.Authenticate("Bearer "+sign(t, jwt.SigningMethodHS256, []byte(secret), nil, with(claim, tenant)), "")
			var refusal *authn.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, "the token's "+claim) {
				t.Errorf("%s %q: %v", claim, tenant, err)
			}
		}
	}
}

func TestLongNamesAreRefused(t *testing.T) {
	t.Parallel()
	key := must[authn.Key](t)(authn.SecretKey([]byte(secret)))
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{Keys: []authn.Key{key}, Now: clock}))
	for name, c := range map[string]struct{ iss, sub, says string }{
		"a long issuer":                  {strings.Repeat("i", 257), "s", "token's iss"},
		"an issuer that steers":          {"https://a\x1b[2J", "s", "token's iss"},
		"more than a record's field may": {strings.Repeat("i", 256), strings.Repeat("/", 256), "too long together"},
	} {
		claims := with("sub", c.sub)
		claims["iss"] = c.iss
		if _, err := a.Authenticate("Bearer "+sign(t, jwt.SigningMethodHS256, []byte(secret), nil, claims), ""); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOwnershipOfOlderVersions(t *testing.T) {
	t.Parallel()
	token := func(tenant, issuer, sub string) authn.Identity {
		return authn.Identity{Tenant: tenant, Subject: execution.TokenSubject(issuer, sub)}
	}
	for name, c := range map[string]struct {
		tenant, subject string
		caller          authn.Identity
		owns            bool
	}{
		"the operator's":                         {"default", "api-key", authn.Operator(), true},
		"the local user's":                       {"default", "local", authn.Local(), true},
		"a token's":                              {"acme", "alice", token("acme", "https://issuer.example", "alice"), true},
		"a token's without sub":                  {"acme", "", token("acme", "", ""), true},
		"a token's whose sub has a /":            {"acme", "repo/x", token("acme", "", "repo/x"), true},
		"another tenant's":                       {"acme", "alice", token("other", "", "alice"), false},
		"another's":                              {"acme", "alice", token("acme", "", "bob"), false},
		"the operator's, by a token's sub":       {"default", "api-key", token("default", "", "api-key"), false},
		"the local user's, by a token's sub":     {"default", "local", token("default", "", "local"), false},
		"a sub that looks like a kind":           {"default", "key:operator", authn.Operator(), false},
		"a sub that looks like the mark of age":  {"acme", "alice", token("acme", "", "former:alice"), false},
		"a token's, by the operator":             {"default", "alice", authn.Operator(), false},
		"a token's named api-key of some tenant": {"acme", "api-key", token("acme", "", "api-key"), true},
	} {
		former := authn.Former(c.tenant, c.subject)
		if got := c.caller.Owns(former); got != c.owns {
			t.Errorf("%s: owns %t", name, got)
		}
		if name == "a sub that looks like a kind" {
			continue // an older version kept it under the very key that the operator has now
		}
		if got := c.caller.FormerOwner() == c.tenant+"\x00"+c.subject ||
			c.caller.Owner() == c.tenant+"\x00"+c.subject; got != c.owns {
			t.Errorf("%s: the former key is %q and %q", name, c.caller.FormerOwner(), c.caller.Owner())
		}
	}
}
