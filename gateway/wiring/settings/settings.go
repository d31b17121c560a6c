package settings

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/functions/process/smallfile"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/audit"
)

// Settings are the checked environment variables of airlock serve.
type Settings struct {
	Listener
	Log         Log
	Auth        Auth
	CORSOrigins []string
	Bodies      Bodies
	Rate        Rate
	Invoker     string // local or lambda
	AuditStore  string
	Records     process.Records
	Retention   filerecords.Retention
	Lambda      Lambda
	Kept
	OnLambda       OnLambda
	Proxies        []netip.Prefix
	CallbackSecret string
	ProxyHosts     address.Hosts
	RemoteTools    []mcptools.Server
	Processes      int // 0: the machine's default
	Hooks          Hooks
}

// Kept is where the gateway keeps what outlives it.
type Kept struct {
	State      string // a folder, a bucket or a database; "" keeps no state
	StateBytes int64  // what a folder of state may take
	// SnapshotKeys encrypt the snapshots of paused executions; nil if SNAPSHOT_KEYS is not set.
	SnapshotKeys *waits.Keys
	// Queues are the queues in SQS through which gateways wake each other.
	Queues Queues
}

// Listener is where the gateway listens, and how it stops.
type Listener struct {
	Host, Port string
	// Drain is how long the gateway still serves after SIGTERM, while /readyz says that it will not.
	Drain time.Duration
}

// OnLambda configures a gateway that runs on Lambda itself.
type OnLambda struct {
	Front        string // what stands in front of it (LAMBDA_FRONT); "" elsewhere
	JobsFunction string // runs the jobs that it stores; "" refuses jobs, unless there are queues
	Alarms       string // invokes the function that runs jobs when work is due; "" if a rule does so every minute
}

// Auth holds the credentials that callers may present.
type Auth struct {
	Open        bool     // no credential is set
	Credentials []string // secret values, which no record may hold
	Config      authn.Config
	Providers   []authn.ProviderConfig
}

// Tenanted reports whether callers may belong to different tenants, which only tokens can say.
func (a Auth) Tenanted() bool { return len(a.Config.Keys)+len(a.Providers) > 0 }

// Bodies holds the largest body of a request with code, what a request may hold beside the text of its code, how large
// it may be in a record that keeps it, and what servers that are commands may answer in an execution.
type Bodies struct{ Most, Data, Recorded, Answers int }

// bodies reads the sizes of bodies. A deployment that sets the one accepts bodies of that size, whatever they hold.
func (r *reader) bodies() Bodies {
	most, data := r.number("MAX_BODY_SIZE", 0, 1, execution.MaxRequestBytes), execution.MaxDataBytes
	if most > 0 {
		data = most
	}
	return Bodies{
		Most: cmp.Or(most, execution.MaxRequestBytes), Data: r.number("MAX_DATA_SIZE", data, 1, execution.MaxRequestBytes),
		Recorded: r.number("AUDIT_CODE_BYTES", 768<<10, 1, audit.MaxBytes),
		Answers:  r.number("MCP_ANSWER_BYTES", 2<<20, 1, 1<<30),
	}
}

// Rate is the request limit of one caller.
type Rate struct {
	Window time.Duration
	Max    int
	Redis  string // URL; "" counts in this process
}

// The default limits of requests in a window. Without credentials there is one caller, who is at this machine.
const (
	defaultRate = 30
	openRate    = 600
)

// Error reports a wrong setting.
type Error struct{ err error }

// Wrong returns err as an *Error; nil if err is nil.
func Wrong(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err}
}

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// reader reads variables and collects what is wrong with them.
type reader struct {
	getenv func(string) string
	wrong  []error
}

func (r *reader) fail(name, format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Errorf(name+": "+format, args...))
}

// number reads a whole number from lowest to highest.
func (r *reader) number(name string, fallback, lowest, highest int) int {
	text := strings.TrimSpace(r.getenv(name))
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < lowest || n > highest {
		r.fail(name, "must be a whole number from %d to %d; got %q", lowest, highest, text)
		return fallback
	}
	return n
}

// Read returns the settings, or an *Error that names each wrong variable and what it accepts.
func Read(getenv func(string) string, now func() time.Time) (Settings, error) {
	r := &reader{getenv: getenv}
	s := Settings{
		Listener: Listener{
			Host:  strings.TrimSpace(getenv("HOST")),
			Port:  strconv.Itoa(r.number("PORT", 3000, 0, 65535)),
			Drain: time.Duration(r.number("DRAIN_SECONDS", 0, 0, 600)) * time.Second,
		},
		Log:    r.log(),
		Bodies: r.bodies(),
		Rate: Rate{
			Window: time.Duration(r.number("RATE_LIMIT_WINDOW_MS", 60_000, 1, 24*60*60*1000)) * time.Millisecond,
			Max:    r.number("RATE_LIMIT_MAX_REQUESTS", defaultRate, 1, 1_000_000_000),
		},
	}
	s.Processes = r.number("FUNCTION_PROCESSES", 0, 1, 1024)
	r.number("SANDBOX_MEMORY_MB", 0, 1, 4096)
	if _, err := process.EngineBuild(getenv); err != nil {
		r.wrong = append(r.wrong, err)
	}
	engines, err := process.ReadEngines(getenv)
	if err != nil {
		r.wrong = append(r.wrong, err)
	}
	if s.Host == "" {
		s.Host = "127.0.0.1"
	}
	s.Auth.Config = r.auth(now)
	for _, name := range []string{"API_KEY", "JWT_SECRET"} {
		s.Auth.Credentials = append(s.Auth.Credentials, getenv(name))
	}
	s.Auth.Providers = r.providers(&s.Auth.Config)
	s.Auth.Open = s.Auth.Config.APIKey == "" && !s.Auth.Tenanted()
	if s.Auth.Open && len(r.wrong) == 0 && !Loopback(s.Host) {
		r.fail("HOST", "%s can be reached by others, and no credential is set: "+
			"set API_KEY, JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL, or serve on 127.0.0.1", s.Host)
	}
	if s.Auth.Open && getenv("RATE_LIMIT_MAX_REQUESTS") == "" {
		s.Rate.Max = openRate
	}
	s.CORSOrigins = r.origins(s.Auth.Open)
	s.AuditStore = r.auditStore()
	s.State, s.SnapshotKeys = r.state(s.AuditStore), r.snapshotKeys()
	s.Queues = r.queues(s.State)
	s.StateBytes = int64(r.number("AIRLOCK_STATE_MB", 16<<10, 64, 1<<24)) << 20
	s.CallbackSecret = r.callbackSecret()
	if s.Records, err = process.ReadRecords(getenv); err != nil {
		r.wrong = append(r.wrong, err)
	}
	s.Retention = r.retention(s.AuditStore)
	if s.RemoteTools, err = process.ReadRemoteTools(getenv); err != nil {
		r.wrong = append(r.wrong, err)
	}
	s.Rate.Redis = r.redis()
	switch s.Invoker = strings.TrimSpace(getenv("INVOKER")); s.Invoker {
	case "":
		s.Invoker = "local"
	case "local":
	case "lambda":
		s.Lambda = r.lambda()
	default:
		r.fail("INVOKER", "must be local or lambda; got %q", s.Invoker)
	}
	if s.Invoker == "lambda" && len(engines.On) > 0 {
		r.fail("ENGINES", "functions on Lambda have only quickjs; leave it out, or set ENGINE_FALLBACK=quickjs")
	}
	if s.Invoker == "lambda" && len(mcptools.Remote(s.RemoteTools)) < len(s.RemoteTools) {
		r.fail(process.RemoteToolsVariable, "functions on Lambda cannot call a server with a command, which runs beside the "+
			"gateway; give it a url")
	}
	s.Proxies = r.trustedProxies()
	s.ProxyHosts = ProxyHosts(getenv)
	s.Hooks = r.hooks(s.Host, s.Auth.Open)
	r.lambdaGateway(&s)
	return s, Wrong(errors.Join(r.wrong...))
}

// Loopback reports whether a host can be reached from this machine only.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}

// auth reads the credentials.
func (r *reader) auth(now func() time.Time) authn.Config {
	cfg := authn.Config{APIKey: r.getenv("API_KEY"), Issuer: r.getenv("JWT_ISSUER"), Audience: r.getenv("JWT_AUDIENCE"),
		Now: now}
	if cfg.APIKey != "" {
		if err := authn.CheckAPIKey(cfg.APIKey); err != nil {
			r.fail("API_KEY", "%v", err)
		}
	}
	if secret := r.getenv("JWT_SECRET"); secret != "" {
		key, err := authn.SecretKey([]byte(secret))
		if err != nil {
			r.fail("JWT_SECRET", "%v", err)
		} else {
			cfg.Keys = append(cfg.Keys, key)
		}
	}
	if text := r.getenv("JWT_PUBLIC_KEY"); text != "" {
		pem, err := pemText(text)
		if err != nil {
			r.fail("JWT_PUBLIC_KEY", "%v", err)
			return cfg
		}
		key, err := authn.PublicKey(pem)
		if err != nil {
			r.fail("JWT_PUBLIC_KEY", "%v", err)
			return cfg
		}
		cfg.Keys = append(cfg.Keys, key)
	}
	cfg.TenantClaim = strings.TrimSpace(r.getenv("JWT_TENANT_CLAIM"))
	return cfg
}

// maxPublicKey bounds the file of a public key.
const maxPublicKey = 1 << 20

// pemText accepts PEM, PEM whose line ends are spelled \n as some deployment tools write it, or the path of a PEM file.
func pemText(text string) ([]byte, error) {
	if strings.Contains(text, "-----BEGIN") {
		return []byte(strings.ReplaceAll(text, `\n`, "\n")), nil
	}
	pem, err := smallfile.Read(text, maxPublicKey)
	if err != nil {
		return nil, errors.New("must be a PEM public key (-----BEGIN PUBLIC KEY-----), or the path of a file with one")
	}
	return pem, nil
}

func (r *reader) origins(open bool) []string {
	var origins []string
	for o := range strings.SplitSeq(r.getenv("CORS_ORIGINS"), ",") {
		if o = strings.TrimSuffix(strings.TrimSpace(o), "/"); o == "" {
			continue
		}
		if o == "*" {
			if open {
				r.fail("CORS_ORIGINS", "* would let every web page use this gateway, which needs no credentials: list the "+
					"origins, or set API_KEY")
			}
			return []string{"*"}
		}
		o = strings.ToLower(o)
		if err := api.CheckOrigin(o); err != nil {
			r.fail("CORS_ORIGINS", "%v", err)
			continue
		}
		origins = append(origins, o)
	}
	return origins
}

// auditStore returns AUDIT_STORE as the URL of a bucket or of a folder with an absolute path. The default is ./audit.
func (r *reader) auditStore() string {
	text := strings.TrimSpace(r.getenv("AUDIT_STORE"))
	if text == "" {
		text = "audit"
	}
	if IsBucket(text) {
		if _, err := records.Folder(text); err != nil {
			r.fail("AUDIT_STORE", "%v", err)
		}
		return text
	}
	dir, isFile := strings.CutPrefix(text, "file://")
	if !isFile && strings.Contains(text, "://") || dir == "" {
		r.fail("AUDIT_STORE", "must be file:///path/of/a/folder or s3://bucket/prefix; got %q", text)
		return ""
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		r.fail("AUDIT_STORE", "%q has no absolute path: %v", dir, err)
		return ""
	}
	return "file://" + abs
}

// Address returns the host and port to listen on.
func (s Settings) Address() string { return net.JoinHostPort(strings.Trim(s.Host, "[]"), s.Port) }
