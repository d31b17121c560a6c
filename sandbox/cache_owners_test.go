package sandbox

import (
	"fmt"
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/source"
)

// TestOwnersShareNothing checks that cached code of one owner is not used for another's.
func TestOwnersShareNothing(t *testing.T) {
	var s source.Cache
	for i, c := range []struct {
		script Script
		again  bool
	}{
		{Script{Code: "1", Owner: "a"}, false}, {Script{Code: "1", Owner: "b"}, false}, {Script{Code: "1"}, false},
		{Script{Code: "1", Owner: "a"}, true}, {Script{Code: "1", Owner: "b"}, true}, {Script{Code: "1"}, true},
		{Script{Code: "1", Owner: "a", TypeScript: true}, false},
	} {
		key, kept := source.KeyOf(c.script.Owner, source.Input{Code: c.script.Code, TypeScript: c.script.TypeScript})
		if again := s.Get(key) != nil; !kept || again != c.again {
			t.Errorf("%d: seen before: %v, kept %v", i, again, kept)
		}
		s.Put(key, &source.Source{}, len(c.script.Code))
	}
}

// TestImagesAreFair checks that an owner with two thousand functions evicts their own images, within the bound, and
// not another owner's.
func TestImagesAreFair(t *testing.T) {
	v := newVersions(10 << 20)
	keep := func(owner, name string) {
		t.Helper()
		x, err := v.take(Script{Version: name, Owner: owner}, Grants{})
		if err != nil {
			t.Fatal(err)
		}
		if !x.loaded {
			x.source, x.loaded = &source.Source{Text: fmt.Sprintf("%100000d", 1)}, true
			v.keep(x)
		}
		v.release(x)
	}
	for n := range 3 {
		keep("modest", fmt.Sprint("m", n))
	}
	for n := range 2000 {
		keep("greedy", fmt.Sprint("g", n))
		if v.bytes > v.limit || v.order.Len() > maxVersions {
			t.Fatalf("%d images take %d bytes", v.order.Len(), v.bytes)
		}
	}
	there := map[string]bool{}
	for key := range v.by {
		there[key.version] = true
	}
	for name, want := range map[string]bool{"m0": true, "m1": true, "m2": true, "g1999": true, "g0": false} {
		if there[name] != want {
			t.Errorf("%s is kept: %v; want %v", name, there[name], want)
		}
	}
}
