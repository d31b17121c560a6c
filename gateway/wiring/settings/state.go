package settings

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/airlock-run/airlock/gateway/callbacks"
	"github.com/airlock-run/airlock/gateway/waits"
)

// IsDatabase reports whether a state is the URL of a Postgres database.
func IsDatabase(state string) bool {
	return strings.HasPrefix(state, "postgres://") || strings.HasPrefix(state, "postgresql://")
}

// IsTable reports whether a state is the URL of a DynamoDB table.
func IsTable(state string) bool { return strings.HasPrefix(state, "dynamodb://") }

// IsShared reports whether gateways on several machines share a state.
func IsShared(state string) bool { return IsDatabase(state) || IsTable(state) }

// StateName returns a state for logs and messages: a database without its user, password and parameters.
func StateName(state string) string {
	if !IsDatabase(state) {
		return state
	}
	u, err := url.Parse(state)
	if err != nil {
		return "the database"
	}
	return "postgres://" + u.Host + u.Path
}

// state returns AIRLOCK_STATE: the absolute path of the folder of saved functions and jobs, the URL of a
// database or a table that several gateways share, or "" for none. The default is a folder beside the folder of the
// audit records, such as ./state beside ./audit, and none on Lambda.
func (r *reader) state(auditStore string) string {
	dir := strings.TrimPrefix(strings.TrimSpace(r.getenv("AIRLOCK_STATE")), "file://")
	if dir == "none" || dir == "" && r.getenv("AWS_LAMBDA_RUNTIME_API") != "" {
		return ""
	}
	if dir == "" {
		dir = "state"
		if records, ok := strings.CutPrefix(auditStore, "file://"); ok {
			dir = filepath.Join(filepath.Dir(records), "state")
			if base := filepath.Base(records); base != "audit" {
				dir = filepath.Join(filepath.Dir(records), base+"-state")
			}
		}
	}
	if IsTable(dir) {
		return dir
	}
	if IsBucket(dir) {
		r.fail("AIRLOCK_STATE", "buckets no longer hold state; stop all gateways, copy the state with "+
			"`airlock state copy %s TO`, and set AIRLOCK_STATE to TO: a folder, postgres://user@host/database, or "+
			"dynamodb://table?contents=s3://bucket/prefix", dir)
		return ""
	}
	if IsDatabase(dir) {
		if _, err := url.Parse(dir); err != nil {
			r.fail("AIRLOCK_STATE", "is not a valid URL; it must be like postgres://user:password@host/database")
			return ""
		}
		return dir
	}
	if strings.Contains(dir, "://") {
		scheme, _, _ := strings.Cut(dir, "://") // what follows may contain a password
		r.fail("AIRLOCK_STATE", "must be the path of a folder, postgres://user@host/database, "+
			"dynamodb://table?contents=s3://bucket/prefix, or none; got %q", scheme+"://…")
		return ""
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		r.fail("AIRLOCK_STATE", "%q has no absolute path: %v", dir, err)
		return ""
	}
	return abs
}

// Stores returns the URL of the record store that store names and the state that AIRLOCK_STATE names beside it.
func Stores(getenv func(string) string, store string) (records, state string, err error) {
	named := &reader{getenv: func(string) string { return store }}
	records = named.auditStore()
	r := &reader{getenv: getenv}
	state = r.state(records)
	return records, state, Wrong(errors.Join(r.wrong...))
}

// Queues are the URLs of queues in SQS; both are set, or neither.
type Queues struct{ Jobs, Callbacks string }

// queues returns JOBS_QUEUE and CALLBACKS_QUEUE.
func (r *reader) queues(state string) Queues {
	q := Queues{strings.TrimSpace(r.getenv("JOBS_QUEUE")), strings.TrimSpace(r.getenv("CALLBACKS_QUEUE"))}
	for name, text := range map[string]string{"JOBS_QUEUE": q.Jobs, "CALLBACKS_QUEUE": q.Callbacks} {
		u, err := url.Parse(text)
		switch {
		case q == Queues{}:
		case text == "":
			r.fail(name, "must be set, too: jobs and callbacks have one queue each")
		case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
			r.fail(name, "must be the URL of a queue, such as https://sqs.eu-central-1.amazonaws.com/123456789012/jobs")
		case strings.HasSuffix(text, ".fifo"):
			r.fail(name, "must be a standard queue: it is fair between tenants, and a FIFO queue handles one job of each")
		case !IsTable(state):
			r.fail(name, "needs AIRLOCK_STATE=dynamodb://table?contents=s3://bucket/prefix")
		}
	}
	if q.Jobs != "" && q.Jobs == q.Callbacks {
		r.fail("CALLBACKS_QUEUE", "must differ from JOBS_QUEUE")
	}
	return q
}

// snapshotKeys returns the keys that SNAPSHOT_KEYS holds; nil if it is not set.
func (r *reader) snapshotKeys() *waits.Keys {
	text := strings.TrimSpace(r.getenv("SNAPSHOT_KEYS"))
	if text == "" {
		return nil
	}
	keys, err := waits.ParseKeys(text)
	if err != nil {
		r.fail("SNAPSHOT_KEYS", "%v", err)
	}
	return keys
}

// callbackSecret returns CALLBACK_SECRET, which signs callbacks whose callers gave no secret.
func (r *reader) callbackSecret() string {
	secret := strings.TrimSpace(r.getenv("CALLBACK_SECRET"))
	if secret == "" {
		return ""
	}
	if !callbacks.ValidSecret(secret) {
		r.fail("CALLBACK_SECRET", "must be whsec_ followed by the base64 of 16 to 64 bytes, such as whsec_$(openssl rand "+
			"-base64 24)")
		return ""
	}
	return secret
}
