package runner

import (
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
)

// ask puts an invocation to the policy.
func ask(inv execution.Invocation) policy.Ask {
	q := inv.Request
	memory, err := execution.ParseMemory(q.Memory)
	if err != nil {
		memory = 0 // "" is the tier's own; anything else was refused when the request was decoded
	}
	a := policy.Ask{
		Code: code(q), Language: q.Language, Tier: q.Policy, MemoryBytes: memory,
		Timeout: duration(q.Timeout), CPU: duration(q.Limits.CPUMs),
		OutputBytes: q.Limits.OutputBytes, LogEntries: q.Limits.LogEntries, APICalls: q.Limits.APICalls,
		Hosts: q.Hosts, Secrets: q.Secrets, Subject: inv.Caller.Subject, Tenant: inv.Caller.Tenant,
	}
	for name := range q.Context {
		a.Globals = append(a.Globals, name)
	}
	for _, t := range q.Tools {
		namespace, _, _ := strings.Cut(strings.Replace(t.Name, ":", ".", 1), ".")
		a.Tools, a.Globals = append(a.Tools, t.Name), append(a.Globals, namespace)
	}
	if len(q.Files) > 0 {
		a.Files = make(map[string]string, len(q.Files))
		for path, content := range q.Files {
			if path != q.Entry {
				a.Files[path] = string(content)
			}
		}
	}
	return a
}

// code is what runs: the request's code, or its entry file.
func code(q execution.Request) string {
	if q.Entry != "" {
		return string(q.Files[q.Entry])
	}
	return q.Code
}

// duration reads milliseconds; more than a day is more than any tier grants.
func duration(ms float64) time.Duration {
	const day = 24 * time.Hour
	return time.Duration(min(max(ms, 0), float64(day/time.Millisecond)) * float64(time.Millisecond))
}

func scriptOf(q execution.Request) sandbox.Script {
	return sandbox.Script{
		Code: code(q), TypeScript: q.Language == "typescript", Context: q.Context, Input: q.Input, Seed: q.Seed,
	}
}

func grantsOf(g policy.Grants, maxMemory int64) sandbox.Grants {
	memory := g.MemoryBytes
	if maxMemory > 0 {
		memory = min(memory, maxMemory)
	}
	return sandbox.Grants{
		Limits: sandbox.Limits{
			Wall: g.Timeout, CPU: g.CPU, MemoryBytes: memory, OutputBytes: int(g.OutputBytes),
			LogEntries: g.LogEntries, LogChars: g.LogChars, APICalls: g.APICalls,
		},
		Eval: g.Eval,
	}
}
