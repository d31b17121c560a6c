package main

import (
	"math"
	"math/rand/v2"
)

// tier is the work of one policy tier as it is assumed to be, and the function that template.yaml gives it. Milliseconds.
type tier struct {
	name     string
	memoryMB int
	cpuMs    float64 // of the guest and the process around it, on one whole vCPU
	waitMs   float64 // for the network, on behalf of the guest
}

// tiers are the assumptions; memory is that of template.yaml, which a test compares.
func tiers() []tier {
	return []tier{
		{"strict", 512, 3, 0},
		{"standard", 512, 6, 0},
		{"extended", 768, 20, 100},
		{"agent", 1024, 60, 2000},
	}
}

// Assumed of the services. Milliseconds.
const (
	putMedianMs  = 25  // writing one audit record to S3, in the function, before the answer
	putP99Ms     = 110 // of the same
	invokeMs     = 8   // the gateway's call to Lambda and back, beside the function's own time
	environMs    = 150 // Lambda making an environment, before our process starts
	initMs       = 80  // our process, from start to first answer
	vcpuMemoryMB = 1769
)

// share is the part of one vCPU that a function of this memory gets.
func share(memoryMB int) float64 { return min(1, float64(memoryMB)/vcpuMemoryMB) }

// billedMs is the mean time that one execution is paid for, environments that start now and then included.
func (t tier) billedMs(memoryMB int, coldShare float64) float64 {
	return t.cpuMs/share(memoryMB) + t.waitMs + mean(putMedianMs, putP99Ms) + coldShare*initMs/share(memoryMB)
}

// z99 is the standard normal's 99th percentile.
const z99 = 2.3263478740408408

// mean of a log-normal given by median and 99th percentile.
func mean(median, p99 float64) float64 {
	sigma := math.Log(p99/median) / z99
	return median * math.Exp(sigma*sigma/2)
}

func logNormal(r *rand.Rand, median, p99 float64) float64 {
	return median * math.Exp(r.NormFloat64()*math.Log(p99/median)/z99)
}

// behind is the model of one tier at a rate, with the limits of its function and the gateway's default queue.
func (t tier) behind(rate float64, limit int) model {
	return model{
		rate: rate, seconds: 40, warmup: 10, limit: limit, burst: 1000, refill: 100, idle: 600, queue: 1024, patient: 10,
		start: func(r *rand.Rand) float64 {
			return (environMs + initMs/share(t.memoryMB)) / 1000 * (0.8 + 0.4*r.Float64())
		},
		serve: func(r *rand.Rand) float64 {
			work := (t.cpuMs/share(t.memoryMB) + t.waitMs) * (0.5 + r.ExpFloat64()/2)
			return (invokeMs + work + logNormal(r, putMedianMs, putP99Ms)) / 1000
		},
	}
}
