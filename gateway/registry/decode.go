package registry

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// Bounds of a definition.
const (
	MaxVersions    = 1000 // of one function
	MaxAliases     = 100  // of one function, latest included
	MaxEnv         = 100
	MaxEnvBytes    = 16 << 10
	maxNameBytes   = 64
	maxSecretBytes = 1024
)

// A Definition is the body of a request that saves a function.
type Definition struct {
	Content  execution.FunctionContent
	Hook     *execution.FunctionHook
	Schedule *execution.FunctionSchedule
}

// accepted are the fields of a definition. The fields of an execution that belong to one call are not among them.
var accepted = [...]string{
	"code", "files", "entry", "language", "engine", "policy", "timeout", "memory", "limits", "tools", "context", "env",
	"hosts", "secrets", "schedule", "hook",
}

// Decode reads a definition strictly. Its files may be part of body, which must not change any more. Errors are
// *execution.Error with the field at fault. Decode does not check what hooks and schedules mean.
func Decode(body []byte) (Definition, error) {
	given, err := execution.SplitMembers(body)
	if err != nil {
		return Definition{}, err
	}
	own, request := map[string]json.RawMessage{}, make([]execution.Member, 0, len(given)+1)
	for _, m := range given {
		switch {
		case !slices.Contains(accepted[:], m.Name):
			return Definition{}, api.Invalid(
				api.Clip(m.Name, 80), "is not a field of a function; accepted here: "+strings.Join(accepted[:], ", "),
			)
		case m.Name != "env" && m.Name != "schedule" && m.Name != "hook":
			request = append(request, m)
		case string(m.Value) != "null":
			own[m.Name] = bytes.Clone(m.Value)
		}
	}
	taken := len(request) < len(given)
	if request, err = withEntry(request); err != nil {
		return Definition{}, err
	}
	if taken || len(request) > len(given) { // joined, 16 MiB are copied once more
		body = execution.JoinMembers(request)
	}
	var d Definition
	if d.Content.Request, err = execution.DecodeOwned(body); err != nil {
		return Definition{}, err
	}
	if raw, ok := own["env"]; ok {
		if d.Content.Env, err = decodeEnv(raw); err != nil {
			return Definition{}, err
		}
		if _, clash := d.Content.Request.Context["env"]; clash {
			return Definition{}, api.Invalid("context.env", "sets the same values as env; leave one of them out")
		}
	}
	if raw, ok := own["hook"]; ok {
		if d.Hook, err = decodeHook(raw); err != nil {
			return Definition{}, err
		}
	}
	if raw, ok := own["schedule"]; ok {
		d.Schedule, err = decodeSchedule(raw)
	}
	return d, err
}

// withEntry adds the entry to files that are given without code and without entry.
func withEntry(members []execution.Member) ([]execution.Member, error) {
	var sources json.RawMessage
	for _, m := range members {
		switch m.Name {
		case "code", "entry":
			return members, nil
		case "files":
			sources = m.Value
		}
	}
	if sources == nil {
		return members, nil // execution.DecodeRequest reports what is missing
	}
	files, err := execution.SplitMembers(sources)
	if err != nil {
		return members, nil // execution.DecodeRequest reports what is wrong with them
	}
	entry := ""
	for _, name := range []string{"index.ts", "index.js", "index.mjs", "main.ts", "main.js"} {
		if slices.ContainsFunc(files, func(f execution.Member) bool { return f.Name == name }) {
			entry = name
		}
	}
	if len(files) == 1 {
		entry = files[0].Name
	}
	if entry == "" {
		return nil, api.Invalid("entry", "is required: the path in files of the file to run (index.js is the default)")
	}
	encoded, err := json.Marshal(entry)
	if err != nil {
		return nil, api.Invalid("entry", "is not a path")
	}
	return append(members, execution.Member{Name: "entry", Value: encoded}), nil
}

func decodeEnv(raw []byte) (map[string]string, error) {
	var env map[string]string
	if err := execution.DecodeMember("env", raw, &env, "an object of name to string"); err != nil {
		return nil, err
	}
	if len(env) > MaxEnv {
		return nil, api.Invalid("env", "has more than 100 entries")
	}
	size := 0
	for name, value := range env {
		if name == "" || len(name) > 128 || strings.ContainsFunc(name, notInEnv) || name[0] >= '0' && name[0] <= '9' {
			return nil, api.Invalid("env", "has a name that is not made of letters, digits and _")
		}
		size += len(name) + len(value)
	}
	if size > MaxEnvBytes {
		return nil, api.Invalid("env", "has more than 16384 bytes")
	}
	return env, nil
}

func notInEnv(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_')
}

func decodeHook(raw []byte) (*execution.FunctionHook, error) {
	var wire struct {
		Scheme           string   `json:"scheme"`
		Secret           string   `json:"secret"`
		Header           string   `json:"header"`
		Headers          []string `json:"headers"`
		ToleranceSeconds int      `json:"toleranceSeconds"`
		Async            bool     `json:"async"`
		Alias            string   `json:"alias"`
	}
	const what = "an object with the fields scheme and secret (strings), and if need be header, alias (strings), " +
		"headers (a list of names), " +
		"toleranceSeconds (a whole number) and async (true or false)"
	if err := execution.DecodeMember("hook", raw, &wire, what); err != nil {
		return nil, err
	}
	if len(wire.Secret) > maxSecretBytes {
		return nil, api.Invalid("hook.secret", "has more than 1024 bytes")
	}
	if wire.Alias != "" && !ValidName(wire.Alias) {
		return nil, api.Invalid("hook.alias", "is not the name of an alias")
	}
	h := execution.FunctionHook(wire)
	return &h, nil
}

// decodeSchedule reads a cron expression alone, or an object.
func decodeSchedule(raw []byte) (*execution.FunctionSchedule, error) {
	var wire struct {
		Cron     string          `json:"cron"`
		TimeZone string          `json:"timeZone"`
		Timezone string          `json:"timezone"` // a common spelling
		Missed   string          `json:"missed"`
		Input    json.RawMessage `json:"input"`
	}
	if raw[0] == '"' {
		return &execution.FunctionSchedule{Cron: decodedString(raw)}, nil
	}
	const what = `a cron expression such as "0 9 * * 1-5", or an object with the fields cron, timeZone, missed and input`
	if err := execution.DecodeMember("schedule", raw, &wire, what); err != nil {
		return nil, err
	}
	return &execution.FunctionSchedule{
		Cron: wire.Cron, TimeZone: cmp.Or(wire.TimeZone, wire.Timezone), Missed: wire.Missed, Input: wire.Input,
	}, nil
}

func decodedString(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// ValidName reports whether s can name a function or an alias: 1 to 64 letters, digits, - _ and . with a letter or
// digit first. Such a name is safe in a URL and in a log.
func ValidName(s string) bool {
	for i := range len(s) {
		c := s[i]
		plain := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !plain && (i == 0 || c != '-' && c != '_' && c != '.') {
			return false
		}
	}
	return s != "" && len(s) <= maxNameBytes
}
