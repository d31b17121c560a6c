package execution

import (
	"errors"
	"math"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/policy/toolname"
)

// ValidID reports whether s has the shape of an execution id: "exec_" and 10 to 64 ASCII letters or digits. Such an id
// is safe as a file name and in a URL.
func ValidID(s string) bool {
	rest, ok := strings.CutPrefix(s, idPrefix)
	if !ok || len(rest) < 10 || len(rest) > 64 {
		return false
	}
	for i := range len(rest) {
		if c := rest[i]; !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z') {
			return false
		}
	}
	return true
}

// ParseMemory reads a size such as "32mb": a positive decimal number followed by b, kb, mb or gb in any case, in
// powers of 1024. It returns whole bytes.
func ParseMemory(s string) (int64, error) {
	const want = `must be a positive size with its unit, such as "32mb" (b, kb, mb or gb)`
	text := strings.ToLower(strings.TrimSpace(s))
	unit := strings.TrimLeft(text, "0123456789.")
	number := strings.TrimSuffix(text, unit)
	factor := map[string]float64{"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}[strings.TrimSpace(unit)]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || factor == 0 || len(s) > 32 {
		return 0, errors.New(want)
	}
	bytes := math.Floor(n * factor)
	if !(bytes >= 1) || bytes > 1<<50 {
		return 0, errors.New(want)
	}
	return int64(bytes), nil
}

// CheckCode returns an error for a text that cannot be the code of a request. It is an *Error.
func CheckCode(code string) error {
	if err := checkCode(code); err != nil {
		return err
	}
	return nil
}

func checkCode(code string) *Error {
	switch {
	case strings.TrimSpace(code) == "":
		return invalid("code", "must be a non-empty string of JavaScript or TypeScript")
	case len(code) > MaxCodeBytes:
		return invalid("code", "has %d bytes; at most %d are accepted", len(code), MaxCodeBytes)
	}
	if i := strings.IndexByte(code, 0); i >= 0 {
		return invalid("code", "contains a NUL byte (line %d); NUL is not accepted in source text",
			1+strings.Count(code[:i], "\n"))
	}
	return nil
}

func tierName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

// checkFiles rejects paths that are absolute or leave the execution's file system.
func checkFiles(files map[string]File) *Error {
	if len(files) > MaxFiles {
		return invalid("files", "has %d entries; at most %d are accepted", len(files), MaxFiles)
	}
	for p := range files {
		if p == "" || len(p) > 255 || strings.ContainsAny(p, "\x00\\") || path.IsAbs(p) || path.Clean(p) != p || p == ".." ||
			strings.HasPrefix(p, "../") || p == "." {
			return invalid("files", "%q is not a plain relative path of at most 255 bytes, such as lib/util.js", clip(p, 80))
		}
		for end := strings.LastIndexByte(p, '/'); end > 0; end = strings.LastIndexByte(p[:end], '/') {
			dir := p[:end]
			if _, ok := files[dir]; ok {
				return invalid("files", "%q is given as a file and as a folder", clip(dir, 80))
			}
		}
	}
	return nil
}

func checkTool(i int, t Tool, before []Tool) *Error {
	field := "tools[" + strconv.Itoa(i) + "]"
	ns, method := ToolGlobal(t.Name)
	if len(t.Name) > 128 || !identifier(ns) {
		return invalid(field+".name",
			`must be "namespace:method", "namespace.method" or "namespace", of at most 128 bytes and not beginning with a `+
				`digit; got %q`, clip(t.Name, 80))
	}
	if toolname.Reserved(ns) {
		return invalid(field+".name", "the namespace %s is reserved by the language or the sandbox; choose another", ns)
	}
	if err := toolname.Check(t.Name); err != nil {
		return invalid(field+".name", "%v; choose another", err)
	}
	for _, b := range before {
		if otherNS, other := ToolGlobal(b.Name); otherNS == ns && other == method {
			return invalid(field+".name", "%q is called as %s.%s, and so is %q: no method may be given more than once",
				clip(t.Name, 80), ns, method, clip(b.Name, 80))
		}
	}
	if len(t.Description) > 4096 {
		return invalid(field+".description", "has %d bytes; at most 4096 are accepted", len(t.Description))
	}
	if t.InputSchema != nil && t.InputSchema[0] != '{' && t.InputSchema[0] != 't' && t.InputSchema[0] != 'f' {
		return invalid(field+".inputSchema", "must be a JSON Schema: an object or a boolean")
	}
	if t.OutputSchema != nil && t.OutputSchema[0] != '{' && t.OutputSchema[0] != 't' && t.OutputSchema[0] != 'f' {
		return invalid(field+".outputSchema", "must be a JSON Schema: an object or a boolean")
	}
	switch {
	case t.Via != "" && t.Via != ToolOfCaller:
		return invalid(field+".via", "must be caller, or be left out; got %q", clip(t.Via, 40))
	case t.Approval != "" && t.Approval != ApprovalRequired:
		return invalid(field+".approval", "must be required, or be left out; got %q", clip(t.Approval, 40))
	case t.Via != "" && (t.Approval != "" || t.Durable):
		return invalid(field+".via", "is caller, and a caller does not wait for a paused execution; leave "+
			"approval and durable out")
	case t.Durable && t.Approval != "":
		return invalid(field+".durable", "is true, so the tool must have no approval: its answer is the decision")
	case t.Via != "" && t.URL != "":
		return invalid(field+".via", "is caller, so the tool must have no url")
	case t.URL == "":
		return nil
	}
	u, err := url.Parse(t.URL)
	if err != nil || len(t.URL) > 2048 || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" ||
		u.User != nil {
		return invalid(field+".url", "must be an absolute http or https URL of at most 2048 bytes without user information")
	}
	return nil
}

var hostPattern = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?` +
	`(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*(:[0-9]{1,5})?$`)

func checkHosts(hosts []string) *Error {
	if len(hosts) > MaxHosts {
		return invalid("hosts", "has %d entries; at most %d are accepted", len(hosts), MaxHosts)
	}
	for i, h := range hosts {
		if len(h) > 253 || !hostPattern.MatchString(h) {
			return invalid("hosts["+strconv.Itoa(i)+"]", `must be a host name such as api.example.com, or *.example.com; got %q`,
				clip(h, 80))
		}
	}
	return nil
}

func checkSecrets(names []string) *Error {
	if len(names) > MaxSecrets {
		return invalid("secrets", "has %d entries; at most %d are accepted", len(names), MaxSecrets)
	}
	for i, n := range names {
		if len(n) > 128 || !identifier(n) {
			return invalid("secrets["+strconv.Itoa(i)+"]", "must be the name of a secret (letters, digits and _); got %q",
				clip(n, 80))
		}
	}
	return nil
}

func checkArgs(args []string) *Error {
	if len(args) > MaxArgs {
		return invalid("args", "has %d entries; at most %d are accepted", len(args), MaxArgs)
	}
	for i, a := range args {
		if strings.ContainsRune(a, 0) {
			return invalid("args["+strconv.Itoa(i)+"]", "must not contain a NUL character")
		}
	}
	return nil
}

func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
