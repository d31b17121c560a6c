package main

import "math"

// pricesAsOf dates the prices below: public price lists, region us-east-1, first volume tier, US dollars, without free
// tiers, savings plans or tax. They change: check them before relying on a figure.
const pricesAsOf = "December 2025"

// Public prices.
const (
	requestPrice     = 0.20 / 1e6    // Lambda: one request
	armSecondPrice   = 0.0000133334  // Lambda, arm64: one GB-second
	x86SecondPrice   = 0.0000166667  // Lambda, x86_64: one GB-second
	putPrice         = 0.005 / 1000  // S3 Standard: one PUT
	storePrice       = 0.023         // S3 Standard: one GB-month
	logPrice         = 0.50          // CloudWatch Logs: one GB taken in
	armVCPUHourPrice = 0.03238       // Fargate, arm64: one vCPU-hour
	armGBHourPrice   = 0.00356       // Fargate, arm64: one GB-hour
	tracePrice       = 5.0 / 1e6     // X-Ray: one trace
	tracedShare      = 0.05          // X-Ray's default sampling
	putsPerRecord    = 2.0           // the record, and its writer's head after it
	recordKB         = 4.0           // one audit record, assumed
	recordMonths     = 400.0 / 30.44 // template.yaml keeps records 400 days
	logKB            = 0.4           // what one execution writes to the log, assumed
)

// Public limits.
const (
	putsPerPrefix        = 3500  // S3: PUTs a second for one key prefix
	accountConcurrency   = 1000  // Lambda: environments of one account and region, by default
	requestsPerConcurr   = 10    // Lambda: requests a second for each unit of concurrency, at most
	raisedConcurrency    = 50000 // what one cell asks to have the quota raised to
	cellPuts             = 10000 // records a second that one cell takes: three key prefixes
	kbPerGB              = 1e6
	secondsPerHour       = 3600
	gatewayPerVCPUSecond = 2000 // requests a second that the gateway serves per vCPU, assumed
)

// lambdaDollars is what a million executions of a tier cost to run.
func (t tier) lambdaDollars(memoryMB int, perGBSecond float64) float64 {
	return 1e6 * (requestPrice + t.billedMs(memoryMB, 0.001)/1000*float64(memoryMB)/1024*perGBSecond)
}

// aroundDollars is what a million executions cost beside their functions: the record written and kept, log, traces.
func aroundDollars() (put, keep, log, trace float64) {
	return 1e6 * putsPerRecord * putPrice, 1e6 * recordKB / kbPerGB * storePrice * recordMonths, 1e6 * logKB / kbPerGB * logPrice, 1e6 * tracedShare * tracePrice
}

// gatewayDollars is what a million requests cost in gateways on Fargate that are 60 % busy.
func gatewayDollars() float64 {
	perHour := armVCPUHourPrice + 2*armGBHourPrice
	return 1e6 / (0.6 * gatewayPerVCPUSecond * secondsPerHour) * perHour
}

// concurrency is how many environments are busy on average (Little's law), or how many the request rate alone calls for.
func (t tier) concurrency(rate float64) int {
	busy := rate * (t.billedMs(t.memoryMB, 0) + invokeMs) / 1000
	return int(math.Ceil(max(busy, rate/requestsPerConcurr)))
}
