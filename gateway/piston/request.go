package piston

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/policy"
)

// wireRequest is the body of POST /api/v2/execute. Like Piston, it ignores further members. Policy is the only one
// that Piston does not have.
type wireRequest struct {
	Language jsontext.Value `json:"language"`
	Version  jsontext.Value `json:"version"`
	Files    jsontext.Value `json:"files"`
	Stdin    *string        `json:"stdin"`
	Args     []string       `json:"args"`
	Policy   string         `json:"policy"`

	RunTimeout         jsontext.Value `json:"run_timeout"`
	RunCPUTime         jsontext.Value `json:"run_cpu_time"`
	RunMemoryLimit     jsontext.Value `json:"run_memory_limit"`
	CompileTimeout     jsontext.Value `json:"compile_timeout"`
	CompileCPUTime     jsontext.Value `json:"compile_cpu_time"`
	CompileMemoryLimit jsontext.Value `json:"compile_memory_limit"`
}

type wireFile struct {
	Name     execution.Text `json:"name"`
	Content  execution.Text `json:"content"`
	Encoding execution.Text `json:"encoding"`
}

// shortFile is a wireFile with stand-ins for long strings.
type shortFile struct {
	Name     string  `json:"name"`
	Content  *string `json:"content"`
	Encoding string  `json:"encoding"`
}

// A program is a request that was read.
type program struct {
	runtime runtime
	request execution.Request
	// limits are those that the request sets, in the order in which they are checked.
	limits []limit
}

type limit struct {
	name  string
	value jsontext.Value
	// most returns the limit of a tier. It is nil for the compile stage, which has none.
	most func(t policy.Tier) float64
	set  func(r *execution.Request, value float64)
}

func refuse(field, format string, args ...any) error {
	return &api.Problem{Status: 400, Code: "invalid_request", Field: field, Detail: fmt.Sprintf(format, args...)}
}

// decode reads a request. Its errors are those of Piston.
func decode(body []byte) (program, error) {
	var w wireRequest
	inFiles := func(member string, depth int) bool { return member == "files" && depth == 3 }
	loose, err := execution.DecodeLoose(body, inFiles)
	if err != nil {
		return program{}, err
	}
	const what = "stdin and policy are strings, args is an array of strings"
	if err := api.DecodeLoose(loose.Short(), &w, what); err != nil {
		return program{}, err
	}
	language, version := text(w.Language), text(w.Version)
	switch {
	case language == "":
		return program{}, refuse("language", "language is required as a string")
	case version == "":
		return program{}, refuse("version", "version is required as a string")
	}
	if err := checkFiles(w.Files); err != nil {
		return program{}, err
	}
	var whole struct {
		Files []wireFile `json:"files"`
	}
	if err := loose.Texts(&whole); err != nil {
		return program{}, refuse("files", "files is required as an array")
	}
	p := program{limits: w.limits()}
	var known bool
	if p.runtime, known = find(language, version); !known {
		return p, refuse("language", "%s-%s runtime is unknown", api.Clip(language, 40), api.Clip(version, 40))
	}
	r := execution.Request{
		Language: p.runtime.Language, Policy: w.Policy, Args: w.Args, Files: map[string]execution.File{},
	}
	for i, f := range whole.Files {
		if err := f.addTo(&r, i); err != nil {
			return p, err
		}
	}
	if r.Entry == "" {
		return p, refuse("files", "files must include at least one utf8 encoded file")
	}
	if r.Input, err = json.Marshal(stdin(w.Stdin)); err != nil {
		return p, err
	}
	p.request = r
	return p, nil
}

// stdin returns standard input, which ends with a newline as in Piston.
func stdin(given *string) string {
	if given == nil {
		return "\n"
	}
	return strings.TrimSuffix(*given, "\n") + "\n"
}

// text returns the value of a JSON string, or "".
func text(raw jsontext.Value) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// checkFiles checks the types of the files of an object with stand-ins.
func checkFiles(raw jsontext.Value) error {
	var all []jsontext.Value
	if json.Unmarshal(raw, &all, jsontext.AllowDuplicateNames(true)) != nil || all == nil {
		return refuse("files", "files is required as an array")
	}
	if len(all) > execution.MaxFiles {
		return refuse("files", "files has %d entries; at most %d are accepted", len(all), execution.MaxFiles)
	}
	for i, f := range all {
		var file shortFile
		if json.Unmarshal(f, &file, jsontext.AllowDuplicateNames(true)) != nil || file.Content == nil {
			return refuse(fmt.Sprintf("files[%d].content", i), "files[%d].content is required as a string", i)
		}
	}
	return nil
}

// addTo adds a file to a request. The first file that is text is the program.
func (f wireFile) addTo(r *execution.Request, index int) error {
	name := path.Clean(string(f.Name))
	if len(f.Name) == 0 {
		name = fmt.Sprintf("file%d.code", index)
	}
	if path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
		return refuse(fmt.Sprintf("files[%d].name", index), "File path %q tries to escape parent directory",
			api.Clip(string(f.Name), 80))
	}
	var content []byte
	var err error
	switch string(f.Encoding) {
	case "base64":
		content, err = base64.StdEncoding.AppendDecode(nil, f.Content)
	case "hex":
		content, err = hex.AppendDecode(nil, f.Content)
	default:
		r.AddText(name, f.Content)
		if r.Entry == "" {
			r.Entry = name
		}
		return nil
	}
	if err != nil {
		return refuse(fmt.Sprintf("files[%d].content", index), "files[%d].content is not valid %s", index, f.Encoding)
	}
	r.Files[name] = content
	return nil
}

func (w wireRequest) limits() []limit {
	return []limit{
		{"compile_memory_limit", w.CompileMemoryLimit, nil, nil},
		{"run_memory_limit", w.RunMemoryLimit, func(t policy.Tier) float64 { return float64(t.MemoryBytes) },
			func(r *execution.Request, v float64) { r.Memory = fmt.Sprintf("%.0fb", v) }},
		{"compile_timeout", w.CompileTimeout, nil, nil},
		{"run_timeout", w.RunTimeout, func(t policy.Tier) float64 { return float64(t.Timeout.Milliseconds()) },
			func(r *execution.Request, v float64) { r.Timeout = v }},
		{"compile_cpu_time", w.CompileCPUTime, nil, nil},
		{"run_cpu_time", w.RunCPUTime, func(t policy.Tier) float64 { return float64(t.CPU.Milliseconds()) },
			func(r *execution.Request, v float64) { r.Limits.CPUMs = v }},
	}
}

// limitTo lowers the limits of the tier to those of the request. Zero, and -1 for memory, stand for the tier's.
func (p *program) limitTo(t policy.Tier) error {
	for _, l := range p.limits {
		if l.value == nil || l.value.Kind() == 'n' {
			continue
		}
		var value float64
		switch {
		case l.value.Kind() != '0', json.Unmarshal(l.value, &value) != nil:
			return refuse(l.name, "If specified, %s must be a number", l.name)
		case l.most == nil, value == 0, value == -1 && strings.HasSuffix(l.name, "memory_limit"):
			continue
		case value > l.most(t):
			return refuse(l.name, "%s cannot exceed the configured limit of %.0f", l.name, l.most(t))
		case value < 0:
			return refuse(l.name, "%s must be non-negative", l.name)
		}
		l.set(&p.request, value)
	}
	return nil
}
