package gateway_test

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// slow is a policy that takes for ever over the code of a tenant until it is let go on.
type slow struct {
	*policy.Set
	over   string
	begun  chan struct{}
	goOn   chan struct{}
	at     atomic.Int64
	atMost atomic.Int64
}

func (s *slow) AnalyzeAsk(ask policy.Ask) policy.Decision {
	if ask.Tenant == s.over {
		n := s.at.Add(1)
		defer s.at.Add(-1)
		for most := s.atMost.Load(); n > most && !s.atMost.CompareAndSwap(most, n); most = s.atMost.Load() {
		}
		s.begun <- struct{}{}
		<-s.goOn
	}
	return s.Set.AnalyzeAsk(ask)
}

// However much code of one tenant there is to be read, another's is read at once.
func TestJudgingInTurns(t *testing.T) {
	t.Parallel()
	places := max(runtime.NumCPU(), 2)
	const more = 20
	p := &slow{Set: policy.Default(), over: "flood", begun: make(chan struct{}, places+more), goOn: make(chan struct{})}
	s := kept(t, options{auth: tokens(t), policy: p})
	flood, quiet := tenantToken(t, "a", "flood", "execute functions"), tenantToken(t, "b", "quiet", "execute functions")
	var all sync.WaitGroup
	for n := range places + more {
		all.Go(func() {
			body := code(strings.Repeat("1;", n+1))
			if a := s.do(t, "POST", "/api/analyze", body, flood); a.StatusCode != 200 {
				t.Errorf("%d %s", a.StatusCode, a.body)
			}
		})
	}
	for range places {
		<-p.begun
	}
	want(t, s.do(t, "POST", "/api/analyze", code("2"), quiet), 200)
	want(t, s.do(t, "POST", "/api/execute", code("3"), quiet), 200)
	want(t, s.do(t, "PUT", "/api/functions/f", code("4"), quiet), 201)
	close(p.goOn)
	all.Wait()
	if most := p.atMost.Load(); most > int64(places) {
		t.Errorf("%d were read at once", most)
	}
}
