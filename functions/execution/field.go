package execution

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxPointer is how much of a JSON pointer is read: a caller's names may be as long as the body.
const maxPointer = 4 << 10

// fieldOf writes a JSON pointer as callers write it in code, such as tools[2].url.
func fieldOf(p jsontext.Pointer) string {
	p = p[:min(len(p), maxPointer)]
	var b strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 32); err == nil && b.Len() > 0 {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(clip(token, 80))
	}
	return strings.TrimPrefix(b.String(), "request.")
}

// patternOf returns fieldOf with every index as [].
func patternOf(p jsontext.Pointer) string {
	field := fieldOf(p)
	var b strings.Builder
	for len(field) > 0 {
		open := strings.IndexByte(field, '[')
		if open < 0 {
			break
		}
		end := strings.IndexByte(field[open:], ']')
		if end < 0 {
			break
		}
		b.WriteString(field[:open] + "[]")
		field = field[open+end+1:]
	}
	return b.String() + field
}

// clip shortens text of the caller for use in a message.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	cut := max
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// accepted returns what a field accepts, for the sentence "must be …".
func accepted(pattern string) (string, bool) {
	switch pattern {
	case "code", "language", "engine", "policy", "priority", "entry", "limits.onLogs":
		return "a string", true
	case "memory":
		return `a size as a string, such as "32mb" (b, kb, mb or gb)`, true
	case "timeout", "limits.cpuMs":
		return "a positive number of milliseconds", true
	case "limits.outputBytes", "limits.fetchBytes", "limits.fileBytes":
		return "a positive whole number of bytes", true
	case "limits.logEntries", "limits.apiCalls", "limits.ticks":
		return "a positive whole number", true
	case "seed":
		return "a whole number", true
	case "context":
		return "an object, one global per entry", true
	case "limits", "debug", "tools[]", "caller":
		return "an object with the fields " + members(pattern), true
	case "debug.stackTraces", "debug.profile", "debug.steps", "stream", "tools[].durable", "waits":
		return "true or false", true
	case "tools":
		return "an array of tools", true
	case "tools[].name", "tools[].description", "tools[].url", "tools[].via", "tools[].approval", "hosts[]", "secrets[]",
		"args[]", "id", "via", "scopes[]", "traceParent", "caller.subject", "caller.tenant", "caller.ip":
		return "a string", true
	case "files":
		return "an object of path to content", true
	case "args":
		return "an array of strings", true
	case "hosts":
		return "an array of host names", true
	case "secrets":
		return "an array of secret names", true
	case "scopes":
		return "an array of scopes", true
	case "airlock":
		return "the number 1", true
	case "receivedAt":
		return "a time in RFC 3339 form", true
	case "queueMs":
		return "a number of milliseconds", true
	case "request":
		return "an execution request", true
	}
	if strings.HasPrefix(pattern, "files.") {
		return `a string or {"base64": "…"}`, true
	}
	return "", false
}

// members returns the member names that an object accepts.
func members(pattern string) string {
	switch pattern {
	case "limits":
		return namesOf[wireLimits]()
	case "debug":
		return namesOf[wireDebug]()
	case "tools[]":
		return namesOf[wireTool]()
	case "caller":
		return namesOf[wireCaller]()
	}
	return namesOf[wireRequest]()
}

// namesOf returns the names of the members of a struct in JSON, in their order.
func namesOf[T any]() string {
	var names []string
	for f := range reflect.TypeFor[T]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
