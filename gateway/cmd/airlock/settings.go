package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/policy/address"
)

// settings is the environment of airlock serve, checked.
type settings struct {
	host, port  string
	open        bool     // no credential is set
	credentials []string // their values, which no record may hold
	auth        authn.Config
	providers   []authn.ProviderConfig
	corsOrigins []string
	maxBody     int
	rateWindow  time.Duration
	rateMax     int
	invoker     string // local or lambda
	auditStore  string
	keeping     process.Records
	retention   filerecords.Retention
	lambda      lambdaSettings
	redis       string // URL; "" counts in this process
	state       string // a folder; "" keeps none
	front       string // on Lambda, what is in front of the gateway; "" elsewhere
	// jobsFunction runs the jobs that the gateway on Lambda keeps; "" keeps none there.
	jobsFunction string
	proxies      []netip.Prefix
	callbackKey  string
	opened       []string // hosts that EGRESS_ALLOW opens
	proxyHosts   address.Hosts
	attached     *attachments
	processes    int // 0: as many as the machine suits
	hooks        hookSettings
}

// reader collects what is wrong with the environment, so that one start names every mistake.
type reader struct {
	getenv func(string) string
	wrong  []error
}

func (r *reader) fail(name, format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Errorf(name+": "+format, args...))
}

// number reads a whole number between lowest and highest.
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

// readSettings gives the settings, or one error that names each variable that is wrong and what it takes.
func readSettings(getenv func(string) string, now func() time.Time) (settings, error) {
	r := &reader{getenv: getenv}
	s := settings{
		host:       strings.TrimSpace(getenv("HOST")),
		port:       strconv.Itoa(r.number("PORT", 3000, 0, 65535)),
		maxBody:    r.number("MAX_BODY_SIZE", 1<<20, 1, execution.MaxRequestBytes),
		rateWindow: time.Duration(r.number("RATE_LIMIT_WINDOW_MS", 60_000, 1, 24*60*60*1000)) * time.Millisecond,
		rateMax:    r.number("RATE_LIMIT_MAX_REQUESTS", 30, 1, 1_000_000_000),
	}
	s.processes = r.number("FUNCTION_PROCESSES", 0, 1, 1024)
	r.number("SANDBOX_MEMORY_MB", 0, 1, 4096)
	if s.host == "" {
		s.host = "127.0.0.1"
	}
	s.auth = r.auth(now)
	for _, name := range []string{"API_KEY", "JWT_SECRET"} {
		s.credentials = append(s.credentials, getenv(name))
	}
	s.providers = r.providers(&s.auth)
	s.open = s.auth.APIKey == "" && len(s.auth.Keys) == 0 && len(s.providers) == 0
	if s.open && len(r.wrong) == 0 && !loopback(s.host) {
		r.fail("HOST", "%s can be reached by others, and no credential is set: set API_KEY, JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL, or serve on 127.0.0.1", s.host)
	}
	s.corsOrigins = r.origins(s.open)
	s.auditStore = r.store()
	s.state = r.state(s.auditStore)
	s.callbackKey = r.callbackKey()
	var err error
	if s.keeping, err = process.ReadRecords(getenv); err != nil {
		r.wrong = append(r.wrong, err)
	}
	s.retention = r.retention(s.auditStore)
	if s.attached, err = readAttachments(getenv); err != nil {
		r.wrong = append(r.wrong, err)
	}
	s.redis = r.redis()
	switch s.invoker = strings.TrimSpace(getenv("INVOKER")); s.invoker {
	case "":
		s.invoker = "local"
	case "local":
	case "lambda":
		s.lambda = r.lambda()
	default:
		r.fail("INVOKER", "must be local or lambda; got %q", s.invoker)
	}
	s.proxies = r.trustedProxies()
	s.proxyHosts = proxyHosts(getenv)
	s.hooks = r.hooks(s.host, s.open)
	r.onLambda(&s)
	return s, errors.Join(r.wrong...)
}

// loopback reports whether a host can be reached from this machine only.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}

// auth reads the credentials.
func (r *reader) auth(now func() time.Time) authn.Config {
	cfg := authn.Config{APIKey: r.getenv("API_KEY"), Issuer: r.getenv("JWT_ISSUER"), Audience: r.getenv("JWT_AUDIENCE"), Now: now}
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

// pemText takes PEM as it is, with \n spelled out as some deployment tools write it, or the path of a file that holds it.
func pemText(text string) ([]byte, error) {
	if strings.Contains(text, "-----BEGIN") {
		return []byte(strings.ReplaceAll(text, `\n`, "\n")), nil
	}
	pem, err := os.ReadFile(text)
	if err != nil {
		return nil, errors.New("must be a PEM public key (-----BEGIN PUBLIC KEY-----), or the path of a file that holds one")
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
				r.fail("CORS_ORIGINS", "* would let every web page use this gateway, which asks for no credentials: list the origins, or set API_KEY")
			}
			return []string{"*"}
		}
		u, err := url.Parse(o)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Scheme+"://"+u.Host != o || strings.ContainsAny(o, "* ") {
			r.fail("CORS_ORIGINS", "%q is not an origin; list exact origins parted by commas, such as https://app.example.com", o)
			continue
		}
		origins = append(origins, strings.ToLower(o))
	}
	return origins
}

// store gives AUDIT_STORE as a URL, of a bucket or with an absolute path; ./audit when it is not set.
func (r *reader) store() string {
	text := strings.TrimSpace(r.getenv("AUDIT_STORE"))
	if text == "" {
		text = "audit"
	}
	if isBucket(text) {
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

func (s settings) address() string { return net.JoinHostPort(strings.Trim(s.host, "[]"), s.port) }
