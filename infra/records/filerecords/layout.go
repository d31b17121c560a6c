package filerecords

import (
	"strings"
	"time"
)

const (
	objectsDir   = "executions"
	dayPrefix    = "dt="
	objectSuffix = ".json"
	logPrefix    = "audit-"
	logSuffix    = ".jsonl"
	writersDir   = "writers"
	headSuffix   = ".head"
	freshSuffix  = ".new"
	ledgerName   = "ledger.jsonl"
	tornDir      = "torn"
)

func logName(day string) string { return logPrefix + day + logSuffix }

// logDay returns the day of a day's file by its name, or "".
func logDay(name string) string {
	day, ok := strings.CutPrefix(name, logPrefix)
	if !ok {
		return ""
	}
	if day, ok = strings.CutSuffix(day, logSuffix); !ok || !isDay(day) {
		return ""
	}
	return day
}

func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func objectName(id string) string { return id + objectSuffix }
