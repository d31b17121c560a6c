package registry

import (
	"encoding/json"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/hooks"
)

// functionView is a function as responses show it. It has no field for a secret.
type functionView struct {
	Name       string `json:"name"`
	Version    int    `json:"version"`
	CodeSHA256 string `json:"codeSha256"`
	CodeBytes  int    `json:"codeBytes"`
	CreatedAt  string `json:"createdAt"`
	CreatedBy  string `json:"createdBy"`
	// Warm says whether runs start from a snapshot taken after the version's top level. It is null until a run has
	// reported that.
	Warm       *bool          `json:"warm"`
	ColdReason string         `json:"coldReason,omitempty"`
	UpdatedAt  string         `json:"updatedAt"`
	Versions   int            `json:"versions"`
	Aliases    map[string]int `json:"aliases"`
	Hook       *hookView      `json:"hook"`
	Schedule   *scheduleView  `json:"schedule"`
}

type hookView struct {
	Scheme string `json:"scheme"`
	Path   string `json:"path"`
	// Headers carry the signature or the secret; Sees are the headers that the code receives.
	Headers          []string `json:"headers,omitempty"`
	Sees             []string `json:"sees"`
	ToleranceSeconds int      `json:"toleranceSeconds,omitempty"`
	Async            bool     `json:"async"`
	Alias            string   `json:"alias,omitempty"`
	SecretSet        bool     `json:"secretSet"`
}

type scheduleView struct {
	Cron     string          `json:"cron"`
	TimeZone string          `json:"timeZone"`
	Missed   string          `json:"missed"`
	Input    json.RawMessage `json:"input,omitempty"`
	Next     string          `json:"next,omitempty"`
}

func viewOf(f execution.SavedFunction, v execution.FunctionVersion) functionView {
	view := functionView{
		Name: f.Name, Version: v.Version, CodeSHA256: v.CodeSHA256, CodeBytes: v.CodeBytes,
		CreatedAt: api.Stamp(v.CreatedAt), CreatedBy: v.CreatedBy, Warm: v.Warm, ColdReason: v.ColdReason,
		UpdatedAt: api.Stamp(f.UpdatedAt), Versions: len(f.Versions), Aliases: map[string]int{},
	}
	for name, a := range f.Aliases {
		view.Aliases[name] = a.Version
	}
	if h := f.Hook; h != nil {
		view.Hook = &hookView{
			h.Scheme, hooks.PathOf(f.Tenant, f.Name), hooks.Headers(*h), hooks.Sees(*h), h.ToleranceSeconds,
			h.Async, h.Alias, h.Secret != "",
		}
	}
	if sc := f.Schedule; sc != nil {
		view.Schedule = &scheduleView{sc.Cron, sc.TimeZone, sc.Missed, sc.Input, api.Stamp(sc.Next)}
	}
	return view
}

// latestOf returns the version that runs when a call names none.
func latestOf(f execution.SavedFunction) execution.FunctionVersion {
	return f.Versions[f.Aliases[Latest].Version-1]
}

type versionView struct {
	Version    int      `json:"version"`
	CodeSHA256 string   `json:"codeSha256"`
	CodeBytes  int      `json:"codeBytes"`
	CreatedAt  string   `json:"createdAt"`
	CreatedBy  string   `json:"createdBy"`
	Aliases    []string `json:"aliases"`
	Warm       *bool    `json:"warm"`
	ColdReason string   `json:"coldReason,omitempty"`
}

type aliasView struct {
	Alias    string `json:"alias"`
	Version  int    `json:"version"`
	Previous *int   `json:"previous"`
	MovedAt  string `json:"movedAt"`
}

func aliasViewOf(name string, a execution.FunctionAlias) aliasView {
	v := aliasView{Alias: name, Version: a.Version, MovedAt: api.Stamp(a.MovedAt)}
	if a.Previous > 0 {
		v.Previous = &a.Previous
	}
	return v
}
