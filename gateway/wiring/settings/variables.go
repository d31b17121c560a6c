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
	{"Address and callers", []Variable{
		{"HOST", "127.0.0.1", "address to listen on; any but a loopback address needs a credential"},
		{"PORT", "3000", "port to listen on; 0 picks one"},
		{"DRAIN_SECONDS", "0", "seconds that the gateway still serves after SIGTERM while /readyz returns 503, so that a " +
			"load balancer stops sending"},
		{"API_KEY", "none", "one key with all rights, as Authorization: Bearer or X-API-Key; at least 16 bytes"},
		{"JWT_SECRET", "none", "verifies HS256 tokens; at least 32 bytes; airlock token mints them"},
		{"JWT_PUBLIC_KEY", "none", "verifies RS256, ES256 or EdDSA tokens; PEM, or the path of a PEM file"},
		{"JWT_JWKS_URL", "from JWT_ISSUER", "URL of an identity provider's keys; a comma-separated list for several"},
		{"JWT_ISSUER", "any", "required issuer of tokens; a comma-separated list for several"},
		{"JWT_AUDIENCE", "any", "required audience of tokens"},
		{"JWT_TENANT_CLAIM", "tenant", "claim with the tenant of a token"},
		{"TRUSTED_PROXIES", "none", "networks of the proxies in front, whose X-Forwarded-For is trusted"},
		{"CORS_ORIGINS", "none", "origins of web pages that may call, comma-separated"},
		{"HOOKS_HOST", "none", "serves webhooks only here: a host name, or host:port to listen on"},
		{"HOOKS_ANSWER_HEADERS", "none", "X- headers that functions may set in answers to webhooks, comma-separated"},
	}},
	{"Limits", []Variable{
		{"MAX_BODY_SIZE", "16777216", "maximum size in bytes of a request with code"},
		{"MAX_DATA_SIZE", "1048576", "maximum bytes of a request besides the text of its code and files, and of any " +
			"other body; by default MAX_BODY_SIZE if that is set"},
		{"RATE_LIMIT_MAX_REQUESTS", "30", "requests of one caller per window, and ten times as many analyses; 600 without " +
			"credentials"},
		{"RATE_LIMIT_WINDOW_MS", "60000", "the window in milliseconds"},
		{"HOOKS_PER_MINUTE", "300", "deliveries of one webhook per minute, besides its tenant's quota"},
		{"REDIS_URL", "none", "counts the limits of several gateways together"},
		{"SANDBOX_MEMORY_MB", "the tier's", "maximum memory of a guest in megabytes; the tier can only lower it"},
		{"FUNCTION_PROCESSES", "by the machine", "function processes; each runs one execution at a time. Where tokens " +
			"name tenants, further ones stay warm for tenants that pause"},
		{"GOMEMLIMIT", "half the memory", "soft limit of the gateway's own memory, by default half the container's or the " +
			"machine's"},
	}},
	{"Executions and policy", []Variable{
		{"ENGINE_BUILD", "quickjs-ng-0.15.1", "engine build of guests: quickjs-ng-0.15.1 or quickjs-ng-0.10.1"},
		{"ENGINES", "quickjs", "engines that code may request, comma-separated: quickjs, v8, jsc; see Other engines below"},
		{"ENGINE_FALLBACK", "none", "quickjs runs code that requests a disabled engine on quickjs"},
		{"ENGINE_JIT", "false", "true lets other engines compile to machine code; memory may then become executable"},
		{"ENGINE_V8", "node", "the Node.js program of the engine v8"},
		{"ENGINE_JSC", "jsc", "the JavaScriptCore shell of the engine jsc"},
		{"AIRLOCK_POLICY_FILE", "none", "YAML that tightens or adds tiers, opens hosts, sets quotas; reloaded on SIGHUP"},
		{"AIRLOCK_PACKAGES", "./airlock-packages",
			"npm packages that code may import: a folder that airlock packages fills, or s3://bucket/prefix; reloaded on " +
				"SIGHUP; or none"},
		{"EGRESS_ALLOW", "none", "hosts that guests and tools may reach, comma-separated"},
		{"AIRLOCK_SECRET_*", "none", "value of the secret * of the policy file"},
		{"MCP_SERVERS", "none", "MCP servers whose tools code may call, by URL or command: a JSON list, or the path of " +
			"a file, reloaded on SIGHUP"},
		{"MCP_ANSWER_BYTES", "2097152", "maximum bytes that MCP servers with a command may answer in one execution; each " +
			"further megabyte costs the gateway up to 20 ms of processor time"},
		{"INVOKER", "local", "local for function processes, or lambda"},
		{"LAMBDA_FUNCTION", "none", "with INVOKER=lambda: name or ARN of the function; {policy} in it stands for the tier"},
		{"LAMBDA_ENDPOINT", "AWS", "with INVOKER=lambda: URL of the Lambda API, such as airlock lambda-local"},
		{"LAMBDA_CONCURRENCY", "50", "with INVOKER=lambda: concurrent executions"},
		{"LAMBDA_TENANCY", "shared", "with INVOKER=lambda: per-tenant for functions in tenant isolation mode"},
		{"HANDOVER_STORE", "none", "with INVOKER=lambda: s3://bucket/prefix for requests over 6 MiB"},
		{"LAMBDA_FRONT", "stream",
			"for a gateway on Lambda: stream for a Function URL, buffer for an HTTP API, jobs for the " +
				"function that runs jobs"},
		{"LAMBDA_JOBS_FUNCTION", "none", "for a gateway on Lambda: the function that runs its jobs; jobs are refused " +
			"if neither this nor JOBS_QUEUE is set"},
		{"LAMBDA_ALARMS", "none", "for a gateway on Lambda: scheduler://GROUP?function=ARN&role=ARN, the group of " +
			"EventBridge Scheduler whose schedules invoke the function that runs jobs when work is due; without it, a " +
			"rule must invoke that function every minute"},
		{"AIRLOCK_CACHE_DIR", "~/.cache/airlock", "compiled engine, and at most 512 MiB of images of packages"},
	}},
	{"Storage", []Variable{
		{"AUDIT_STORE", "./audit", "where records are stored: file:///path or s3://bucket/prefix"},
		{"AUDIT_CHAIN_KEY", "none", "adds a keyed code to every record; at least 16 bytes"},
		{"AUDIT_CODE", "hash", "hash, or keep to record the code and the request, which replay needs"},
		{"AUDIT_CODE_BYTES", "786432", "with AUDIT_CODE=keep: maximum bytes of a request in its record, as JSON with " +
			"code, files and input, those of a saved function too; a larger request gets 413. Each further megabyte costs the " +
			"gateway up to 40 ms of processor time"},
		{"AUDIT_REDACT", "none", "fields of a record whose values are not stored, comma-separated"},
		{"AUDIT_SYNC", "false", "true flushes a record to disk before its result is returned"},
		{"AUDIT_MAX_AGE", "unlimited", "how long a folder keeps records, such as 90d; buckets have lifecycle rules"},
		{"AUDIT_MAX_BYTES", "unlimited", "size of a folder of records, such as 20gb; removes whole days, oldest first"},
		{"S3_ENDPOINT", "AWS", "URL of an S3-compatible service"},
		{"AIRLOCK_STATE", "./state",
			"folder of saved functions, jobs and the index over the records; postgres://user@host/database, " +
				"or dynamodb://table?contents=s3://bucket/prefix to share it; or none"},
		{"AIRLOCK_STATE_MB", "16384", "size of a folder of state for all tenants together; changes beyond it return 507"},
		{"SNAPSHOT_KEYS", "generated in the folder", "keys of the snapshots of paused executions, NAME:BASE64 of 32 bytes, " +
			"comma-separated; the first encrypts, all decrypt; with a database, executions cannot pause without it"},
		{"JOBS_QUEUE", "none", "with a table: URL of a standard queue in SQS that wakes gateways for jobs; without it " +
			"they look for jobs every second"},
		{"CALLBACKS_QUEUE", "none", "with JOBS_QUEUE: URL of the queue that wakes gateways for callbacks"},
		{"CALLBACK_SECRET", "one per callback", "signs callbacks whose requests contain no secret; whsec_ followed " +
			"by base64"},
	}},
	{"Telemetry", []Variable{
		{"LOG_FORMAT", "text", "text, or json with one object per line"},
		{"LOG_LEVEL", "info", "debug, info, warn or error: the least severe lines that are written"},
		{"ACCESS_LOG", "with json", "true writes a line for every request, at level info; false writes none"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "none", "sends spans and metrics there by OTLP over HTTP"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "none", "sends spans there"},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "none", "sends metrics there"},
		{"OTEL_SDK_DISABLED", "false", "true sends neither; other OTEL_ variables have their usual meaning"},
	}},
}

// clientVariables are the settings of the commands that call a gateway.
var clientVariables = []Variable{
	{"AIRLOCK_SERVER", "none", "gateway of airlock run, functions and mcp"},
	{"AIRLOCK_TOKEN", "none", "token or API key for that gateway"},
}

// AWSVariables are the variables from which the AWS SDK reads its credentials, region and certificates.
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
