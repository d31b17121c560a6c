package records

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/infra/records/s3records"
)

// known lists the options of a bucket's URL.
const known = "kms, lock, retain, class, tag, spool and spool-bytes"

// options reads the query of a bucket's URL into cfg. Package s3records checks the values and their combination.
func options(query string, cfg *s3records.Config) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("store options %q: %w", query, err)
	}
	for name, given := range values {
		value := given[0]
		if len(given) > 1 && name != "tag" {
			return fmt.Errorf("store option %s is given more than once", name)
		}
		if value == "" {
			return fmt.Errorf("store option %s has no value", name)
		}
		switch name {
		case "kms":
			cfg.KMSKey = value
		case "lock":
			cfg.Lock = strings.ToUpper(value)
		case "retain":
			cfg.Retain, err = period(value)
		case "class":
			cfg.StorageClass = value
		case "tag":
			cfg.Tags, err = tags(given)
		case "spool":
			if cfg.Spool = value; !filepath.IsAbs(value) {
				err = fmt.Errorf("store option spool: must be the absolute path of a folder; got %q", value)
			}
		case "spool-bytes":
			if cfg.SpoolBytes, err = strconv.ParseInt(value, 10, 64); err != nil || cfg.SpoolBytes < 1 {
				err = fmt.Errorf("store option spool-bytes: must be a number of bytes; got %q", value)
			}
		default:
			err = fmt.Errorf("store option %q is unknown; accepted are %s", name, known)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// period reads a length of time such as 90d or 36h.
func period(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("store option retain: must be a duration such as 90d or 36h; got %q", text)
	}
	return d, nil
}

func tags(given []string) (map[string]string, error) {
	out := map[string]string{}
	for _, one := range given {
		name, value, ok := strings.Cut(one, ":")
		if !ok || name == "" {
			return nil, fmt.Errorf("store option tag: must be name:value; got %q", one)
		}
		out[name] = value
	}
	return out, nil
}
