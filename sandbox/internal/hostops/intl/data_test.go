package intl

import (
	"encoding/json"
	"testing"
)

// Every line of the data has JSON, or names an earlier line.
func TestData(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func() (map[patternKey]string, error){
		"locales": patterns, "names": rarePatterns, "currencies": currencyPatterns,
	} {
		found, err := read()
		if err != nil || len(found) < 200 {
			t.Errorf("%s: %d lines, %v", name, len(found), err)
		}
		for key, pattern := range found {
			if !json.Valid([]byte(pattern)) {
				t.Errorf("%s: %s of %s is %.80q", name, key.kind, key.locale, pattern)
			}
		}
	}
}
