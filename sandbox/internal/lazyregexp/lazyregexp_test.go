package lazyregexp_test

import (
	"slices"
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

func TestNewCompilesLate(t *testing.T) {
	wrong := lazyregexp.New("(") // does not panic
	defer func() {
		if recover() == nil {
			t.Error("the first use of a wrong expression does not panic")
		}
	}()
	wrong.MatchString("")
}

func TestRegexp(t *testing.T) {
	r := lazyregexp.New(`(\w)=(\d)`)
	if !r.MatchString("a=1") || r.MatchString("a") {
		t.Error("MatchString")
	}
	if got := r.FindStringSubmatch("x a=1"); !slices.Equal(got, []string{"a=1", "a", "1"}) {
		t.Errorf("FindStringSubmatch: %q", got)
	}
	if got := r.FindStringSubmatchIndex("x a=1"); !slices.Equal(got, []int{2, 5, 2, 3, 4, 5}) {
		t.Errorf("FindStringSubmatchIndex: %v", got)
	}
	if got := r.FindAllStringSubmatch("a=1 b=2", -1); len(got) != 2 || got[1][2] != "2" {
		t.Errorf("FindAllStringSubmatch: %q", got)
	}
	if got := r.ReplaceAllString("a=1", "$2=$1"); got != "1=a" {
		t.Errorf("ReplaceAllString: %q", got)
	}
}
