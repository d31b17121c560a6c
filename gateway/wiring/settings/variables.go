package settings

import (
	"fmt"
	"slices"
	"strings"
)

// A Variable is an environment variable with its default and its help text.
type Variable struct{ Name, Default, About string }

// A Group is a titled part of the settings.
type Group struct {
	Title     string
	Variables []Variable
}

// Groups are the settings of airlock serve, in the order of the help.
var Groups = []Group{
	{"Where it serves, and to whom", []Variable{
		{"HOST", "127.0.0.1", "address to listen on; any but this machine's own needs a credential setting"},
		{"PORT", "3000", "port to listen on; 0 picks one"},
		{"API_KEY", "none", "one key that may do everything, as Authorization: Bearer or X-API-Key; 16 bytes or more"},
		{"JWT_SECRET", "none", "verifies HS256 tokens; 32 bytes or more; airlock token mints them"},
		{"JWT_PUBLIC_KEY", "none", "verifies RS256, ES256 or EdDSA tokens; PEM, or the file that holds it"},
		{"JWT_JWKS_URL", "asked of JWT_ISSUER", "where identity providers publish their keys; a list for several"},
		{"JWT_ISSUER", "any", "the issuer that tokens must name; a list for several"},
		{"JWT_AUDIENCE", "any", "the audience that tokens must name"},
		{"JWT_TENANT_CLAIM", "tenant", "the claim of a token that names the tenant"},
		{"TRUSTED_PROXIES", "none", "networks of the proxies in front, whose word on a caller's address counts"},
		{"CORS_ORIGINS", "none", "web pages that may call, as exact origins parted by commas"},
		{"HOOKS_HOST", "none", "serves webhooks alone, and nowhere else: a host's name, or host:port to listen on"},
		{"HOOKS_ANSWER_HEADERS", "none",
			"X- headers that functions may set on what they answer to webhooks, parted by commas"},
	}},
	{"How much", []Variable{
		{"MAX_BODY_SIZE", "1048576", "bytes of a request's body"},
		{"RATE_LIMIT_MAX_REQUESTS", "30", "requests of one caller in a window"},
		{"RATE_LIMIT_WINDOW_MS", "60000", "the window in milliseconds"},
		{"HOOKS_PER_MINUTE", "300", "deliveries of one webhook in a minute, beside its tenant's quota"},
		{"REDIS_URL", "none", "counts the limits of several gateways together"},
		{"SANDBOX_MEMORY_MB", "the tier's", "megabytes that a guest gets at most, whatever its tier says"},
		{"FUNCTION_PROCESSES", "by the machine", "function processes; each runs one execution at a time"},
		{"GOMEMLIMIT", "half the memory", "the gateway's own memory, which it keeps to while it can; half the " +
			"container's, or the machine's"},
	}},
	{"What runs, and by what rules", []Variable{
		{"ENGINE_BUILD", "quickjs-ng-0.10.1", "the engine build that guests run on: quickjs-ng-0.10.1 or quickjs-ng-0.15.1"},
		{"AIRLOCK_POLICY_FILE", "none", "YAML that tightens or adds tiers, opens hosts, sets quotas; read again on SIGHUP"},
		{"EGRESS_ALLOW", "none", "hosts that guests and tools may reach, parted by commas"},
		{"AIRLOCK_SECRET_*", "none", "the value of the secret that the policy file calls *"},
		{"MCP_SERVERS", "none", "MCP servers whose tools code may call, as a JSON list, or the file that holds it, read " +
			"again on SIGHUP"},
		{"INVOKER", "local", "local function processes, or lambda"},
		{"LAMBDA_FUNCTION", "none", "with INVOKER=lambda: name or ARN of the function; {policy} in it stands for the tier"},
		{"LAMBDA_ENDPOINT", "AWS", "with INVOKER=lambda: where the Lambda API is, such as airlock lambda-local"},
		{"LAMBDA_CONCURRENCY", "50", "with INVOKER=lambda: executions at a time"},
		{"LAMBDA_TENANCY", "shared", "with INVOKER=lambda: per-tenant, for functions in tenant isolation mode"},
		{"HANDOVER_STORE", "none", "with INVOKER=lambda: s3://bucket/prefix that requests over 6 MiB are handed over in"},
		{"LAMBDA_FRONT", "stream", "where Lambda runs the gateway: stream for a Function URL, buffer for an HTTP API, " +
			"jobs for the function that runs jobs"},
		{"LAMBDA_JOBS_FUNCTION", "none", "where Lambda runs the gateway: the function that runs its jobs; without one it " +
			"refuses them"},
		{"AIRLOCK_CACHE_DIR", "~/.cache/airlock", "keeps the compiled engine"},
	}},
	{"What is kept", []Variable{
		{"AUDIT_STORE", "./audit", "where records go: file:///path or s3://bucket/prefix"},
		{"AUDIT_CHAIN_KEY", "none", "adds a keyed code to every record; 16 bytes or more"},
		{"AUDIT_CODE", "hash", "hash, or keep: the code and request too, which replay needs"},
		{"AUDIT_REDACT", "none", "fields of a record whose values are not stored, parted by commas"},
		{"AUDIT_SYNC", "false", "true: a record is on the disk before its result is given"},
		{"AUDIT_MAX_AGE", "for ever", "how long records are kept in a folder, such as 90d; buckets have lifecycle rules"},
		{"AUDIT_MAX_BYTES", "no limit", "what the records of a folder may take together, such as 20gb; whole days go, " +
			"oldest first"},
		{"S3_ENDPOINT", "AWS", "where buckets are, for stores that speak S3"},
		{"AIRLOCK_STATE", "./state", "folder of saved functions, jobs and the index over the records; s3://bucket/prefix " +
			"for what several gateways share; none"},
		{"CALLBACK_SECRET", "one for each", "signs callbacks whose callers gave no secret; whsec_ and base64"},
	}},
	{"Tracing", []Variable{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "none", "sends spans and metrics there by OTLP over HTTP"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "none", "the same, for traces alone"},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "none", "the same, for metrics alone"},
		{"OTEL_SDK_DISABLED", "false", "true: neither; other OTEL_ variables go by their usual meaning"},
	}},
}

// clientVariables are the settings of the commands that call a gateway.
var clientVariables = []Variable{
	{"AIRLOCK_SERVER", "none", "the gateway that airlock run, functions and mcp call"},
	{"AIRLOCK_TOKEN", "none", "their token or API key"},
}

// AWSVariables give the AWS SDK its credentials, region and certificates.
var AWSVariables = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE",
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CA_BUNDLE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
	"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	"AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_EC2_METADATA_DISABLED",
}

// Help returns the help text that lists every setting.
func Help() string {
	var b strings.Builder
	for _, group := range Groups {
		fmt.Fprintf(&b, "%s:\n", group.Title)
		for _, v := range group.Variables {
			name := v.Name
			if len(name) > 24 {
				name += "\n" + strings.Repeat(" ", 26)
			}
			fmt.Fprintf(&b, "  %-24s %s (%s)\n", name, v.About, v.Default)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Names returns the name of every variable that the program reads.
func Names() []string {
	var names []string
	for _, group := range Groups {
		for _, v := range group.Variables {
			names = append(names, v.Name)
		}
	}
	for _, v := range clientVariables {
		names = append(names, v.Name)
	}
	return names
}

// families are the name prefixes that only settings of this program have.
var families = []string{"AIRLOCK_", "AUDIT_", "HOOKS_", "RATE_LIMIT_"}

// Misspelt returns a warning for each variable of environ (NAME=VALUE) that looks like a misspelt setting.
func Misspelt(environ []string) []string {
	known := Names()
	var lines []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		upper := strings.ToUpper(name)
		ours := slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(upper, f) })
		if slices.Contains(known, name) || foreignVariable(name) {
			continue
		}
		meant := Nearest(name, known)
		// Short names, such as POST, resemble one another by chance.
		switch {
		case meant != "" && (ours || len(name) > 6 || strings.EqualFold(name, meant)):
			lines = append(lines, fmt.Sprintf("%s is not a setting; did you mean %s?", name, meant))
		case ours:
			lines = append(lines, name+" is not a setting; airlock serve --help lists them")
		}
	}
	slices.Sort(lines)
	return lines
}

// foreignVariable reports whether a name that resembles a setting belongs to the deployment (secrets) or to another
// program.
func foreignVariable(name string) bool {
	return strings.HasPrefix(name, "AIRLOCK_SECRET_") || strings.HasPrefix(name, "AIRLOCK_TEST_") ||
		strings.HasPrefix(name, "OTEL_") ||
		strings.HasPrefix(name, "AWS_")
}
