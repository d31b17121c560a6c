package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// An Outcome is the result of running an execution again.
type Outcome struct {
	Status, Error, Limit string
	Result               json.RawMessage // nil for none
	OutputBytes, Ticks   int64
	APICalls, ExitCode   int
}

// Differences returns one line for each difference from the record. It is empty if the execution is the same.
func (r Record) Differences(again Outcome) []string {
	out := []string{}
	note := func(what string, then, now any) {
		if then != now {
			out = append(out, fmt.Sprintf("%s: %v then, %v now", what, then, now))
		}
	}
	sum := ""
	if len(again.Result) > 0 {
		hash := sha256.Sum256(again.Result)
		sum = hex.EncodeToString(hash[:])
	}
	note("status", r.Status, again.Status)
	note("error", r.Error, again.Error)
	note("limit", r.Limit, again.Limit)
	if r.ExitCode != 0 { // older records have none
		note("exitCode", r.ExitCode, again.ExitCode)
	}
	note("resultSha256", r.ResultSHA256, sum)
	note("outputBytes", r.OutputBytes, again.OutputBytes)
	note("ticks", r.Usage.Ticks, again.Ticks)
	note("apiCalls", r.Usage.APICalls, again.APICalls)
	return out
}
