package callbacks

import (
	"encoding/json"
	"errors"
	"net/url"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/policy/address"
)

// Rules say which receivers requests may name and how callbacks are signed.
type Rules struct {
	// OpenedHosts may be called back although their addresses are not public.
	OpenedHosts []string
	// Secret signs the callbacks whose caller gave no secret. If empty, each such callback gets its own.
	Secret string
}

// Accept reads the member callback of a request. made is the signing secret if one was made for this callback.
func (r Rules) Accept(member json.RawMessage) (to *execution.Callback, made string, err error) {
	if to, err = Decode(member); err != nil {
		return nil, "", err
	}
	u, err := url.Parse(to.URL)
	if err == nil {
		err = address.Hosts(r.OpenedHosts).Check(u)
	}
	switch {
	case errors.Is(err, address.ErrRefused):
		return nil, "", api.Invalid("callback", address.ErrRefused.Error())
	case err != nil:
		return nil, "", api.Invalid("callback", "the URL's host is not a valid name or address")
	}
	if to.Secret == "" {
		to.Secret = r.Secret
	}
	if to.Secret == "" {
		made = NewSecret()
		to.Secret = made
	}
	return to, made, nil
}
