package dynamostate

import (
	"fmt"
	"testing"
)

// FuzzKeys checks that what two tenants store never meets under one key, in the table or in the bucket, whatever their
// names are, and that no tenant's list includes entries of another.
func FuzzKeys(f *testing.F) {
	for _, tenants := range [][2]string{
		{"a", "a/"}, {"a", "a#b"}, {"", "/"}, {"a", "A"}, {"fn#", "fn"}, {"61", "a"}, {"a", "a\x00"}, {"é", "e\u0301"},
		{"../a", "a"}, {"a/61", "a"}, {"0", "00"},
	} {
		f.Add(tenants[0], tenants[1], "name", "name2")
		f.Add(tenants[0], tenants[1], "a.b", "a")
	}
	f.Fuzz(func(t *testing.T, tenant, other, name, second string) {
		if !plainName().MatchString(name) || !plainName().MatchString(second) || tenant == other && name == second {
			return
		}
		for what, of := range map[string]func(tenant, name string) string{
			"function": func(tenant, name string) string {
				k := functionKey(tenant, name)
				return fmt.Sprintf("%q %q", textOf(k["pk"]), textOf(k["sk"]))
			},
			"versions": contentsOf, "events": eventsOf, "folder": functionFolder,
			"receiver": func(tenant, name string) string {
				k := goneKey(tenant, name)
				return fmt.Sprintf("%q %q", textOf(k["pk"]), textOf(k["sk"]))
			},
			"entry": func(tenant, name string) string { return timed("", fromMillis(1), tenant, name).at },
		} {
			if a, b := of(tenant, name), of(other, second); a == b {
				t.Errorf("%s %q of tenant %q and %q of %q are both %s", what, name, tenant, second, other, a)
			}
		}
		if tenant != other {
			a, b := tenantPart(tenant), tenantPart(other)
			if len(a) <= len(b) && b[:len(a)] == a {
				t.Errorf("the keys of tenant %q begin as those of %q", other, tenant)
			}
		}
	})
}

// No ID that callers choose leads to the key of something else.
func TestIDsAreNoKeys(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"", "-", "exec_", "exec_a#b12345678", "job#exec_0123456789", "exec_0123456789/../x", "exec_0123456789#",
		"exec_é123456789", "exec_" + string(make([]byte, 20)), "sess_0123456789#job", "document#heads",
	} {
		if validID(id) {
			t.Errorf("%q may be part of a key", id)
		}
	}
	for _, name := range []string{"", ".", "..", "a#b", "a/b", "a b", "a\x00", "é", "-a", string(make([]byte, 65))} {
		if plainName().MatchString(name) {
			t.Errorf("%q may be part of a key", name)
		}
	}
}
