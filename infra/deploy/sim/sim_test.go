package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
)

// exponential is M/M/c: Poisson arrivals, exponential service, c environments that are always there, no one turned away.
func exponential(rate, serviceSeconds float64, c int) model {
	return model{
		rate: rate, seconds: 4000, warmup: 400, limit: c, burst: c, idle: math.Inf(1), queue: math.MaxInt, patient: math.Inf(1),
		start: func(*rand.Rand) float64 { return 0 },
		serve: func(r *rand.Rand) float64 { return r.ExpFloat64() * serviceSeconds },
	}
}

// erlangC is the textbook's mean wait in M/M/c.
func erlangC(rate, serviceSeconds float64, c int) float64 {
	load := rate * serviceSeconds
	term, sum := 1.0, 0.0
	for k := range c {
		sum += term
		term *= load / float64(k+1)
	}
	last := term * float64(c) / (float64(c) - load)
	return last / (sum + last) * serviceSeconds / (float64(c) - load)
}

func TestSimulationAgreesWithTheTextbook(t *testing.T) {
	for _, tc := range []struct {
		load float64
		c    int
	}{{0.5, 1}, {0.8, 1}, {0.7, 4}, {0.9, 10}, {0.95, 50}} {
		const service = 0.05
		rate := tc.load * float64(tc.c) / service
		s := simulate(exponential(rate, service, tc.c), 7)
		want := erlangC(rate, service, tc.c)
		if off := math.Abs(s.waitMean-want) / want; off > 0.08 || s.refused > 0 {
			t.Errorf("c=%d load %.2f: mean wait %.4f s, want %.4f (%.0f %% off), refused %d", tc.c, tc.load, s.waitMean, want, 100*off, s.refused)
		}
	}
}

func TestEveryArrivalIsAccountedFor(t *testing.T) {
	for _, tier := range tiers() {
		for _, rate := range []float64{1, 100, 5000} {
			s := simulate(tier.behind(rate, 100), 3)
			if s.served+s.refused != s.arrived || s.served != len(s.latency) || s.peak > 100 {
				t.Errorf("%s at %.0f: arrived %d, served %d, refused %d, peak %d", tier.name, rate, s.arrived, s.served, s.refused, s.peak)
			}
		}
	}
}

func TestSameSeedSameFigures(t *testing.T) {
	m := tiers()[1].behind(500, 30)
	if a, b := simulate(m, 1), simulate(m, 1); !reflect.DeepEqual(a, b) {
		t.Error("two runs with one seed differ")
	}
	if a, b := simulate(m, 1), simulate(m, 2); reflect.DeepEqual(a, b) {
		t.Error("two seeds give the same run")
	}
}

func TestLimitsHold(t *testing.T) {
	slow := exponential(1000, 1, 10)
	slow.seconds, slow.warmup, slow.queue, slow.patient = 20, 0, 5, 0.5
	s := simulate(slow, 1)
	if s.peak != 10 || s.refused < s.arrived*9/10 {
		t.Errorf("peak %d, refused %d of %d", s.peak, s.refused, s.arrived)
	}
	starting := tiers()[0].behind(10_000, 5000)
	starting.seconds, starting.warmup, starting.burst, starting.refill = 1, 0, 10, 0
	if s := simulate(starting, 1); s.cold != 10 || s.peak != 10 {
		t.Errorf("10 could start, %d did, peak %d", s.cold, s.peak)
	}
}

// TestDocument: SCALE.md holds exactly the tables that the command prints.
func TestDocument(t *testing.T) {
	doc, err := os.ReadFile("../SCALE.md")
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := play(nil, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	for _, table := range report(1) {
		if !strings.Contains(string(doc), table) {
			t.Errorf("SCALE.md does not hold this table as it is printed now:\n%s", table)
		}
		if !strings.Contains(out.String(), table) {
			t.Errorf("the command does not print:\n%s", table)
		}
	}
}

// TestTiersAreThoseOfTheTemplate: the figures are about the functions that are deployed.
func TestTiersAreThoseOfTheTemplate(t *testing.T) {
	template, err := os.ReadFile("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range tiers() {
		_, after, _ := strings.Cut(string(template), "-"+tier.name+"'\n")
		_, after, _ = strings.Cut(after, "MemorySize: ")
		if got, _, _ := strings.Cut(after, "\n"); got != fmt.Sprint(tier.memoryMB) {
			t.Errorf("%s: template.yaml has %q MB, the figures %d", tier.name, got, tier.memoryMB)
		}
	}
}

func TestUsage(t *testing.T) {
	var out, errs bytes.Buffer
	if code := play([]string{"-seed", "x"}, &out, &errs); code != 2 || errs.Len() == 0 {
		t.Errorf("code %d, %q", code, errs.String())
	}
}
