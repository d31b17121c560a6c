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
	// besides marks a spooled record whose ID another writer used meanwhile: it is stored beside the other.
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

// idOf returns the ID of a key of that day, or "".
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

// keyBefore returns the key that precedes those of all IDs made at that instant or later.
func (s *Store) keyBefore(day string, at time.Time) string {
	var u ulid.ULID
	if at.Before(time.Unix(0, 0)) || u.SetTime(ulid.Timestamp(at)) != nil {
		return ""
	}
	return s.dayPrefix(day) + "exec_" + u.String()
}
