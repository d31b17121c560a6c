package policy

import "time"

// A Quota bounds how much of the service one tenant may use. Zero means that the deployment set no bound.
type Quota struct {
	Concurrent int `json:"concurrent,omitempty"`
	PerMinute  int `json:"perMinute,omitempty"`
	PerDay     int `json:"perDay,omitempty"`
	// Storage bounds what the tenant may keep.
	Storage Storage `json:"storage,omitzero"`
}

// Storage bounds what a tenant may keep of saved functions and jobs: bytes, a number of schedules, and ages. Zero means
// the store's default.
type Storage struct {
	Functions  int64 `json:"functions,omitempty"`
	Jobs       int64 `json:"jobs,omitempty"`
	Results    int64 `json:"results,omitempty"`
	Deliveries int64 `json:"deliveries,omitempty"`
	Keys       int64 `json:"keys,omitempty"`
	Schedules  int64 `json:"schedules,omitempty"`

	KeepResults time.Duration `json:"keepResults,omitempty"`
	KeepEvents  time.Duration `json:"keepEvents,omitempty"`
	KeepKeys    time.Duration `json:"keepKeys,omitempty"`
}
