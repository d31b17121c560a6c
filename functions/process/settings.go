package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/policy"
)

// Settings are the checked environment variables of a function process.
type Settings struct {
	// CacheDir holds the compiled engine; "" compiles it at each start.
	CacheDir string
	// EngineBuild is the engine build that guests run on.
	EngineBuild string
	// Store is the URL of the audit store; RecordDir is the folder that it writes to, "" for a bucket without a spool.
	Store, RecordDir string
	// Records configures how records are stored.
	Records Records
	// Handover is the URL of the bucket for requests that are too large for an invocation; "" refuses them.
	Handover string
	// TokenDir is the folder of the token that renews AWS credentials; "" if there is none.
	TokenDir string
	// Secret returns the value of a secret that the policy names, from the variable SecretPrefix + name, or "".
	Secret func(name string) string
	// RemoteTools are the MCP servers whose tools guests may call.
	RemoteTools []mcptools.Server
	// Sealed means that an owner on this machine records and connects for the process. Store, RecordDir, Handover,
	// TokenDir and RuntimeAPI are then empty, and no secret is known.
	Sealed bool
	// Packages are the packages that code may import.
	Packages Installed
	// Rules is the policy.
	Rules *policy.Set
	// MemoryBytes lowers the memory of every tier; 0 leaves the tiers as they are.
	MemoryBytes int64
	// RuntimeAPI is host:port of the Lambda Runtime API, followed by a path for a local one.
	RuntimeAPI string
	// EventRequests are what EVENT_REQUESTS binds to kinds of events; OpenHTTP is EVENT_HTTP=open.
	EventRequests map[events.Kind]execution.Request
	OpenHTTP      bool
	// EventHeaders are the request headers that EVENT_HEADERS passes to the code of EVENT_REQUESTS.
	EventHeaders []string
	// EventAnswerHeaders are the X- headers that EVENT_ANSWER_HEADERS lets that code set.
	EventAnswerHeaders []string
}

// SecretPrefix precedes a secret's name in the environment.
const SecretPrefix = "AIRLOCK_SECRET_"

// ReadSettings reads the environment. executable is the path of this program; a folder "cache" beside it precedes
// AIRLOCK_CACHE_DIR and the user's cache. The error names every wrong variable.
func ReadSettings(getenv func(string) string, executable string) (Settings, error) {
	var wrong []error
	s := Settings{CacheDir: CacheDir(getenv, executable), RuntimeAPI: getenv("AWS_LAMBDA_RUNTIME_API"),
		Sealed: getenv(sealed.Variable) != ""}
	if s.RuntimeAPI == "" && !s.Sealed {
		wrong = append(wrong, errors.New("AWS_LAMBDA_RUNTIME_API: is not set; a function process is started by Lambda, or "+
			"by airlock serve, and not by hand"))
	}
	var err error
	if s.EngineBuild, err = EngineBuild(getenv); err != nil {
		wrong = append(wrong, err)
	}
	if s.Rules, _, err = ReadRules(getenv); err != nil {
		wrong = append(wrong, err)
	}
	s.Packages = LoadPackages(getenv)
	if !s.Sealed && s.Rules != nil && len(s.Rules.Engines().On) > 0 {
		wrong = append(wrong, errNoEngines)
	}
	if s.RemoteTools, err = ReadRemoteTools(getenv); err != nil {
		wrong = append(wrong, err)
	}
	if s.Sealed {
		s.Records.KeepCode = getenv("AUDIT_CODE") == keep
	} else {
		wrong = append(wrong, s.readKeeping(getenv)...)
	}
	if s.MemoryBytes, err = MemoryBytes(getenv); err != nil {
		wrong = append(wrong, err)
	}
	if text := getenv("EVENT_REQUESTS"); text != "" {
		bound, err := events.ParseBound([]byte(text))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("EVENT_REQUESTS: %w", err))
		}
		s.EventRequests = bound
	}
	s.EventHeaders = names(getenv("EVENT_HEADERS"))
	s.EventAnswerHeaders = names(getenv("EVENT_ANSWER_HEADERS"))
	switch text := getenv("EVENT_HTTP"); text {
	case "", "authenticated":
	case "open":
		s.OpenHTTP = true
	default:
		wrong = append(wrong, fmt.Errorf("EVENT_HTTP: must be authenticated (the default) or open; got %q", text))
	}
	return s, errors.Join(wrong...)
}

// readKeeping reads the variables of a process that stores records itself.
func (s *Settings) readKeeping(getenv func(string) string) (wrong []error) {
	var err error
	if s.Records, err = ReadRecords(getenv); err != nil {
		wrong = append(wrong, err)
	}
	s.Secret = Secrets(getenv)
	s.Store = getenv("AUDIT_STORE")
	if token := getenv("AWS_WEB_IDENTITY_TOKEN_FILE"); filepath.IsAbs(token) {
		s.TokenDir = filepath.Dir(token)
	}
	dir, isFolder := strings.CutPrefix(s.Store, "file://")
	switch {
	case s.Store == "":
		wrong = append(wrong, errors.New("AUDIT_STORE: is not set; every execution needs a place for its record"))
	case isFolder && filepath.IsAbs(dir):
		s.RecordDir = dir
	case strings.HasPrefix(s.Store, "s3://"):
		if s.RecordDir, err = records.Folder(s.Store); err != nil {
			wrong = append(wrong, fmt.Errorf("AUDIT_STORE: %w", err))
		}
	default:
		wrong = append(wrong, fmt.Errorf("AUDIT_STORE: must be file:// and the absolute path of a folder, or "+
			"s3://bucket/prefix; got %q", s.Store))
	}
	if s.Handover, err = Handover(getenv); err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}

// MemoryBytes returns SANDBOX_MEMORY_MB in bytes, 0 if it is not set.
func MemoryBytes(getenv func(string) string) (int64, error) {
	text := getenv("SANDBOX_MEMORY_MB")
	if text == "" {
		return 0, nil
	}
	mb, err := strconv.ParseInt(text, 10, 32)
	if err != nil || mb < 1 {
		return 0, fmt.Errorf("SANDBOX_MEMORY_MB: must be a whole number of megabytes from 1; got %q", text)
	}
	return mb << 20, nil
}

// names splits a comma-separated list.
func names(text string) []string {
	var out []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Handover returns HANDOVER_STORE, which the gateway and its functions share.
func Handover(getenv func(string) string) (string, error) {
	text := strings.TrimSpace(getenv("HANDOVER_STORE"))
	if bucket, _, _ := strings.Cut(strings.TrimPrefix(text, "s3://"), "/"); text != "" &&
		(!strings.HasPrefix(text, "s3://") || bucket == "") {
		return "", fmt.Errorf("HANDOVER_STORE: must be s3://bucket/prefix, or not be set; got %q", text)
	}
	return text, nil
}

// CacheDir returns the folder for compiled code: the one shipped with the program, the one that AIRLOCK_CACHE_DIR
// names, or the user's.
func CacheDir(getenv func(string) string, executable string) string {
	shipped := filepath.Join(filepath.Dir(executable), "cache")
	if info, err := os.Stat(shipped); err == nil && info.IsDir() {
		return shipped
	}
	return OwnCacheDir(getenv)
}

// OwnCacheDir returns the folder of data that this user may lose: AIRLOCK_CACHE_DIR, or airlock in the user's cache;
// "" if there is none.
func OwnCacheDir(getenv func(string) string) string {
	if dir := getenv("AIRLOCK_CACHE_DIR"); dir != "" {
		return dir
	}
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "airlock")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "airlock")
	}
	return ""
}
