package meter

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/airlock-run/airlock/functions/execution"
)

// StorageCollector exposes to Prometheus what the state holds.
type StorageCollector struct {
	Stats  func(ctx context.Context) (execution.StorageStats, error)
	Logger *slog.Logger
}

// shownTenants is how many tenants have their own series: those that store most.
const shownTenants = 50

// tenantLabel is the label of the series of one tenant.
const tenantLabel = "tenant"

// Describe implements prometheus.Collector. It describes nothing, because the tenants are not known before.
func (StorageCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m StorageCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	stats, err := m.Stats(ctx)
	if err != nil {
		m.Logger.Warn("the storage usage of the state cannot be read", "error", err)
		return
	}
	gauge := func(name, help string, value int64, labels, values []string) {
		desc := prometheus.NewDesc(name, help, labels, nil)
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), values...)
	}
	gauge("airlock_state_file_bytes", "Size of the state on its disk.", stats.FileBytes, nil, nil)
	gauge("airlock_state_free_bytes", "Part of the state file that can be reused.", stats.FreeBytes, nil, nil)
	all := totals(stats.Usage)
	for _, quota := range quotas() {
		label, value := []string{"quota"}, []string{quota}
		gauge("airlock_state_bytes", "Stored bytes, by storage quota.", all[quota].Bytes, label, value)
		if !stats.Uncounted || quota == execution.QuotaSchedules {
			gauge("airlock_state_items", "Stored items, by storage quota.", all[quota].Count, label, value)
		}
	}
	for _, u := range largest(stats.Usage, shownTenants) {
		gauge("airlock_state_tenant_bytes", "Stored bytes of the largest tenants.", u.Bytes,
			[]string{tenantLabel, "quota"}, []string{u.Tenant, u.Quota})
	}
}

// quotas returns the storage quotas in the order of the documentation.
func quotas() []string {
	return []string{
		execution.QuotaFunctions, execution.QuotaJobs, execution.QuotaResults, execution.QuotaDeliveries,
		execution.QuotaKeys, execution.QuotaSchedules,
	}
}

// totals returns the usage of all tenants together, by quota.
func totals(usage []execution.StorageUsage) map[string]execution.StorageUsage {
	all := map[string]execution.StorageUsage{}
	for _, u := range usage {
		sum := all[u.Quota]
		all[u.Quota] = execution.StorageUsage{Quota: u.Quota, Count: sum.Count + u.Count, Bytes: sum.Bytes + u.Bytes}
	}
	return all
}

// largest returns the usage of the tenants that store most.
func largest(usage []execution.StorageUsage, most int) []execution.StorageUsage {
	bytes := map[string]int64{}
	for _, u := range usage {
		bytes[u.Tenant] += u.Bytes
	}
	tenants := slices.Collect(maps.Keys(bytes))
	slices.SortFunc(tenants, func(a, b string) int {
		return cmp.Or(cmp.Compare(bytes[b], bytes[a]), cmp.Compare(a, b))
	})
	shown := tenants[:min(len(tenants), most)]
	var out []execution.StorageUsage
	for _, u := range usage {
		if slices.Contains(shown, u.Tenant) && u.Quota != execution.QuotaSchedules {
			out = append(out, u)
		}
	}
	return out
}
