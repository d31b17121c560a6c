package settings

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestMisspeltSettings(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"AIRLOCK_STAT=x":            "AIRLOCK_STAT is not a setting; did you mean AIRLOCK_STATE?",
		"AUDIT_STOR=x":              "AUDIT_STOR is not a setting; did you mean AUDIT_STORE?",
		"RATE_LIMIT_MAX_REQUEST=9":  "did you mean RATE_LIMIT_MAX_REQUESTS?",
		"JWT_SECERT=x":              "did you mean JWT_SECRET?",
		"EGRES_ALLOW=x":             "did you mean EGRESS_ALLOW?",
		"MAX_BODYSIZE=1":            "did you mean MAX_BODY_SIZE?",
		"api_key=x":                 "did you mean API_KEY?",
		"AIRLOCK_COLOUR_OF_SKY=x":   "AIRLOCK_COLOUR_OF_SKY is not a setting; airlock serve --help lists them",
		"API_KEY=x":                 "",
		"AIRLOCK_SECRET_ANYTHING=x": "",
		"HOME=/root":                "",
		"POST=1":                    "",
		"PATH=/bin":                 "",
		"HOSTNAME=box":              "",
		"OTEL_SERVICE_NAME=x":       "",
		"AWS_LAMBDA_FUNCTION_NAME=": "",
		"LAMBDA_TASK_ROOT=/var":     "",
		"REDIS_HOST=x":              "",
		"SUDO_USER=x":               "",
	} {
		got := strings.Join(Misspelt([]string{entry}), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
}

var settingName = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$|^(HOST|PORT|INVOKER|ENGINES)$`)

// notSettings are names that the sources read and that are no settings of airlock serve: what others set, or what a
// function process on Lambda has for itself.
var notSettings = []string{
	"NO_COLOR", "XDG_CACHE_HOME", "AWS_LAMBDA_RUNTIME_API", "AWS_LAMBDA_FUNCTION_NAME", "EVENT_REQUESTS", "EVENT_HEADERS",
	"EVENT_ANSWER_HEADERS", "EVENT_HTTP",
	"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_RESOURCE_ATTRIBUTES",
	"OTEL_EXPORTER_OTLP_TIMEOUT",
	"OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_KEY",
	"HTTPS_PROXY", "HTTP_PROXY",
}

// The help lists every variable that the sources read, and none that they do not.
func TestSettingsAreListed(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	for _, dir := range []string{".", "..", "../../cli", "../../cli/terminal", "../../../functions/process"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || name == "variables.go" {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					if text, err := strconv.Unquote(literal.Value); err == nil && settingName.MatchString(text) {
						read[text] = true
					}
				}
				return true
			})
		}
	}
	known := Names()
	for name := range read {
		if !slices.Contains(known, name) && !slices.Contains(notSettings, name) && !slices.Contains(AWSVariables, name) {
			t.Errorf("%s is read and not listed in variables.go", name)
		}
	}
	help := Help()
	for _, name := range known {
		// The runtime, or a library, reads these.
		if name == "GOMEMLIMIT" || name == "AIRLOCK_SECRET_*" || strings.HasPrefix(name, "OTEL_") {
			continue
		}
		if !read[name] {
			t.Errorf("%s is listed and nothing reads it", name)
		}
		if !slices.ContainsFunc(clientVariables, func(v Variable) bool { return v.Name == name }) &&
			!strings.Contains(help, "\n  "+name) {
			t.Errorf("%s is not in the help of airlock serve", name)
		}
	}
}
