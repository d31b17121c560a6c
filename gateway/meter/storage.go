package gateway

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/airlock-run/airlock/functions/execution"
)

// ofQuota is 507 where only deleting makes room, and 429 where waiting does. Both name the quota, what is used, and what to
// do.
func ofQuota(e *execution.QuotaError) *problem {
	used := fmt.Sprintf("the tenant's storage quota %q is used up: %d of %d bytes", e.Quota, e.Used, e.Limit)
	if e.Quota == execution.QuotaSchedules {
		used = fmt.Sprintf("the tenant's storage quota %q is used up: %d of %d functions with a schedule", e.Quota, e.Used, e.Limit)
	}
	if e.After > 0 {
		return &problem{status: 429, code: "storage_quota", detail: used + "; room is made as time passes: see Retry-After, or have quota.storage raised", retryAfter: e.After}
	}
	return &problem{status: 507, code: "storage_quota", detail: used + "; delete some, or have quota.storage raised"}
}

// ofFault is the answer of a store that cannot do its work. Each code has a runbook in OPERATIONS.md.
func ofFault(e *execution.StoreError) *problem {
	const wait, long = time.Second, time.Minute
	switch e.Fault {
	case execution.StoreFull:
		return &problem{status: 507, code: "store_full", detail: "the disk of the state is full; nothing was changed", cause: e}
	case execution.StoreBusy:
		return &problem{status: 503, code: "store_busy", detail: "another process holds the lock of the state; nothing was changed", retryAfter: wait, cause: e}
	case execution.StoreCorrupt:
		return &problem{status: 503, code: "store_corrupt", detail: "the state is damaged; nothing is read from it or written to it", retryAfter: long, cause: e}
	case execution.StoreReadOnly:
		return &problem{status: 503, code: "store_read_only", detail: "the state cannot be written to; nothing was changed", retryAfter: long, cause: e}
	case execution.StoreLost:
	}
	return &problem{status: 503, code: "store_lost", detail: "the disk of the state fails; nothing was changed", retryAfter: long, cause: e}
}

// figured is a state that tells what it holds.
type figured interface {
	Figures(ctx context.Context) (execution.StorageFigures, error)
}

// storageMetrics exposes what the state holds.
type storageMetrics struct {
	s  *Server
	of figured
}

// shownTenants is how many tenants have figures of their own: those that have most.
const shownTenants = 50

// Describe implements prometheus.Collector: what is collected depends on who has what, so nothing is promised.
func (storageMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m storageMetrics) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(m.s.base, time.Second)
	defer cancel()
	figures, err := m.of.Figures(ctx)
	if err != nil {
		m.s.deps.Logger.Warn("the figures of the state cannot be read", "error", err)
		return
	}
	gauge := func(name, help string, value int64, labels, values []string) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue, float64(value), values...)
	}
	gauge("airlock_state_file_bytes", "What the state takes on its disk.", figures.FileBytes, nil, nil)
	gauge("airlock_state_free_bytes", "What of it can be used again.", figures.FreeBytes, nil, nil)
	all := totals(figures.Usage)
	for _, quota := range quotas() {
		gauge("airlock_state_bytes", "What is kept, by storage quota.", all[quota].Bytes, []string{"quota"}, []string{quota})
		gauge("airlock_state_items", "How many there are, by storage quota.", all[quota].Count, []string{"quota"}, []string{quota})
	}
	for _, u := range largest(figures.Usage, shownTenants) {
		gauge("airlock_state_tenant_bytes", "What a tenant has, of the tenants that have most.", u.Bytes, []string{"tenant", "quota"}, []string{u.Tenant, u.Quota})
	}
}

// quotas are the storage quotas in the order of the documents.
func quotas() []string {
	return []string{
		execution.QuotaFunctions, execution.QuotaJobs, execution.QuotaResults, execution.QuotaDeliveries, execution.QuotaKeys, execution.QuotaSchedules,
	}
}

// totals adds up what all tenants have, by quota.
func totals(usage []execution.StorageUsage) map[string]execution.StorageUsage {
	all := map[string]execution.StorageUsage{}
	for _, u := range usage {
		sum := all[u.Quota]
		all[u.Quota] = execution.StorageUsage{Quota: u.Quota, Count: sum.Count + u.Count, Bytes: sum.Bytes + u.Bytes}
	}
	return all
}

// largest returns the usage of the tenants that have most bytes.
func largest(usage []execution.StorageUsage, most int) []execution.StorageUsage {
	bytes := map[string]int64{}
	for _, u := range usage {
		bytes[u.Tenant] += u.Bytes
	}
	tenants := slices.Collect(maps.Keys(bytes))
	slices.SortFunc(tenants, func(a, b string) int { return cmp.Or(cmp.Compare(bytes[b], bytes[a]), cmp.Compare(a, b)) })
	shown := tenants[:min(len(tenants), most)]
	var out []execution.StorageUsage
	for _, u := range usage {
		if slices.Contains(shown, u.Tenant) && u.Quota != execution.QuotaSchedules {
			out = append(out, u)
		}
	}
	return out
}
