package s3records

import (
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/policy/audit"
)

const (
	executions = "executions/"
	writers    = "writers/"
	dayMark    = "dt="
	suffix     = ".json"
	// besides marks a record that was spooled while another writer stored one of the same id: it is kept beside it.
	besides = "~"
)

func (s *Store) root(path string) string {
	if s.cfg.Prefix == "" {
		return path
	}
	return s.cfg.Prefix + "/" + path
}

func (s *Store) dayPrefix(day string) string { return s.root(executions + dayMark + day + "/") }

func (s *Store) key(r audit.Sealed) string { return s.dayPrefix(r.Day) + r.ID + suffix }

// idOf gives the id that a key of that day is for, or "".
func idOf(key, prefix string) string {
	id, ok := strings.CutPrefix(key, prefix)
	if !ok {
		return ""
	}
	if id, ok = strings.CutSuffix(id, suffix); !ok || !audit.ValidID(id) {
		return ""
	}
	return id
}

// keyBefore gives the key that stands before those of all ids made at that instant or later.
func (s *Store) keyBefore(day string, at time.Time) string {
	var u ulid.ULID
	if at.Before(time.Unix(0, 0)) || u.SetTime(ulid.Timestamp(at)) != nil {
		return ""
	}
	return s.dayPrefix(day) + "exec_" + u.String()
}
