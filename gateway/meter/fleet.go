package meter

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Fleet is the state of this machine's function processes at one moment.
type Fleet struct {
	// Totals since the start: executions handed to a process, lost because it crashed, and lost because it was killed.
	Executions int64 `json:"executions"`
	Crashed    int64 `json:"crashed"`
	Killed     int64 `json:"killed"`
	// Waiting is the number of calls that have a place in the queue and wait for a process.
	Waiting   int       `json:"waiting"`
	Processes []Process `json:"processes"`
}

// Process is a place for a function process, and the process in it. PID is 0 while there is none.
type Process struct {
	PID        int       `json:"pid"`
	State      string    `json:"state"` // starting, idle, busy, exited
	Started    time.Time `json:"started"`
	Executions int64     `json:"executions"` // of this process
	Restarts   int       `json:"restarts"`   // of this place
	LastExit   string    `json:"lastExit,omitempty"`
	// Heartbeat is the time of the last sample. The fields after it are from then, and 0 if the system does not report
	// them.
	Heartbeat  time.Time `json:"heartbeat"`
	RSSBytes   int64     `json:"rssBytes"`
	CPUSeconds float64   `json:"cpuSeconds"`
	CPUShare   float64   `json:"cpuShare"`
	// MemoryTrend holds the last samples of resident memory, oldest first. Leaking is the verdict of the leak rule on
	// them.
	MemoryTrend []int64 `json:"memoryTrend"`
	Leaking     bool    `json:"leaking"`
}

// FleetCollector exposes a fleet to Prometheus. Places are numbered, so that a restart makes no new series.
type FleetCollector func() Fleet

// Describe implements prometheus.Collector. It describes nothing, because the number of processes is not known before.
func (FleetCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (f FleetCollector) Collect(out chan<- prometheus.Metric) {
	now := f()
	total := func(name, help string, value int64) {
		out <- prometheus.MustNewConstMetric(
			prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, float64(value),
		)
	}
	total("airlock_function_executions_total", "Executions handed to a function process.", now.Executions)
	total("airlock_function_crashes_total", "Executions lost because their process ended by itself.", now.Crashed)
	total("airlock_function_kills_total", "Executions whose process was killed: deadline, memory, cancelled.", now.Killed)
	for n, p := range now.Processes {
		place := strconv.Itoa(n)
		figure := func(name, help string, kind prometheus.ValueType, value float64) {
			desc := prometheus.NewDesc(name, help, []string{"place"}, nil)
			out <- prometheus.MustNewConstMetric(desc, kind, value, place)
		}
		figure("airlock_function_process_up", "1 while the place has a process.", prometheus.GaugeValue, truth(p.PID != 0))
		figure(
			"airlock_function_process_restarts_total", "Processes of the place that ended.", prometheus.CounterValue,
			float64(p.Restarts),
		)
		figure("airlock_function_process_resident_bytes", "Resident memory.", prometheus.GaugeValue, float64(p.RSSBytes))
		figure(
			"airlock_function_process_cpu_share", "Share of one processor since the sample before.", prometheus.GaugeValue,
			p.CPUShare,
		)
		figure(
			"airlock_function_process_leaking", "1 when the leak rule says that its memory only grows.", prometheus.GaugeValue,
			truth(p.Leaking),
		)
		if !p.Heartbeat.IsZero() {
			figure(
				"airlock_function_process_heartbeat_timestamp_seconds", "When it was last sampled.", prometheus.GaugeValue,
				float64(p.Heartbeat.UnixMilli())/1000,
			)
		}
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
