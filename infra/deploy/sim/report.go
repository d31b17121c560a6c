package main

import (
	"fmt"
	"math"
	"strings"
)

// report gives every table of SCALE.md, as Markdown.
func report(seed uint64) []string {
	return []string{costTable(), memoryTable(), aroundTable(), needTable(), queueTable(seed), burstTable(seed)}
}

func costTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Cost of running one million executions, US dollars (prices of %s, us-east-1)\n\n", pricesAsOf)
	b.WriteString("| tier | memory MB | billed ms | arm64 | x86_64 |\n|---|---:|---:|---:|---:|\n")
	for _, t := range tiers() {
		fmt.Fprintf(&b, "| %s | %d | %.0f | %.2f | %.2f |\n", t.name, t.memoryMB, t.billedMs(t.memoryMB, 0.001),
			t.lambdaDollars(t.memoryMB, armSecondPrice), t.lambdaDollars(t.memoryMB, x86SecondPrice))
	}
	return b.String()
}

func memoryTable() string {
	var b strings.Builder
	b.WriteString("The same million by memory, arm64: dollars, and billed milliseconds of one execution\n\n| tier |")
	sizes := []int{512, 768, 1024, 1769, 3538}
	for _, size := range sizes {
		fmt.Fprintf(&b, " %d MB |", size)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(sizes)) + "\n")
	for _, t := range tiers() {
		fmt.Fprintf(&b, "| %s |", t.name)
		for _, size := range sizes {
			fmt.Fprintf(&b, " %.2f (%.0f) |", t.lambdaDollars(size, armSecondPrice), t.billedMs(size, 0.001))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func aroundTable() string {
	put, keep, log, trace := aroundDollars()
	return fmt.Sprintf(`What a million executions cost beside their functions, US dollars

| S3 PUTs of the record and of its writer's head | keeping it 400 days | log | traces | gateway on Fargate |
|---:|---:|---:|---:|---:|
| %.2f | %.2f | %.2f | %.2f | %.2f |
`, put, keep, log, trace, gatewayDollars())
}

func needTable() string {
	var b strings.Builder
	b.WriteString("What a rate calls for, all of it standard tier\n\n")
	b.WriteString("| executions/s | environments busy | times the default account quota | key prefixes for records | gateways (1 vCPU) | cells |\n|---:|---:|---:|---:|---:|---:|\n")
	standard := tiers()[1]
	for _, rate := range []float64{10, 10_000, 1_000_000} {
		need := standard.concurrency(rate)
		cells := math.Ceil(max(rate/cellPuts, float64(need)/raisedConcurrency))
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.0f | %.0f | %.0f |\n", count(rate), count(float64(need)), float64(need)/accountConcurrency,
			math.Ceil(rate/putsPerPrefix), max(2, math.Ceil(rate/(0.6*gatewayPerVCPUSecond))), cells)
	}
	return b.String()
}

func queueTable(seed uint64) string {
	var b strings.Builder
	b.WriteString("Steady load on one tier, gateway queue of 1,024, 30 s counted after 10 s: latency in ms as the gateway sees it\n\n")
	b.WriteString("| tier | executions/s | environments at most | busy | mean wait | p50 | p99 | p99.9 | cold | refused |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, row := range []struct {
		tier  int
		rate  float64
		limit int
	}{{1, 10, 100}, {1, 1000, 100}, {1, 1600, 100}, {1, 2500, 100}, {1, 10_000, 1000}, {3, 10, 100}, {3, 45, 100}, {3, 60, 100}} {
		t := tiers()[row.tier]
		s := simulate(t.behind(row.rate, row.limit), seed)
		load := row.rate * (t.billedMs(t.memoryMB, 0) + invokeMs) / 1000 / float64(row.limit)
		fmt.Fprintf(&b, "| %s | %s | %s | %.0f %% | %.1f | %.0f | %.0f | %.0f | %.2f %% | %.2f %% |\n", t.name, count(row.rate), count(float64(row.limit)),
			100*load, 1000*s.waitMean, 1000*s.at(50), 1000*s.at(99), 1000*s.at(99.9), part(s.cold, s.served), part(s.refused, s.arrived))
	}
	return b.String()
}

func burstTable(seed uint64) string {
	var b strings.Builder
	b.WriteString("From nothing to a steady load in an instant, standard tier, 5,000 environments allowed: the first 10 s, counted from the first request\n\n")
	b.WriteString("| executions/s | environments started | mean wait | p50 | p99 | cold | refused |\n|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, rate := range []float64{100, 1000, 10_000, 50_000} {
		m := tiers()[1].behind(rate, 5000)
		m.seconds, m.warmup = 10, 0
		s := simulate(m, seed)
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.0f | %.0f | %.2f %% | %.2f %% |\n", count(rate), count(float64(s.peak)),
			1000*s.waitMean, 1000*s.at(50), 1000*s.at(99), part(s.cold, s.served), part(s.refused, s.arrived))
	}
	return b.String()
}

func part(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// count writes a whole number with its thousands apart.
func count(f float64) string {
	digits := fmt.Sprintf("%.0f", f)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
