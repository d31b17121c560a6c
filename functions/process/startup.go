package process

import (
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// Startup holds the durations of the parts of a start in milliseconds. It is logged when the process is ready. The
// time before Began belongs to the system and the Go runtime.
type Startup struct {
	Began      time.Time `json:"began"`
	ModuleMs   float64   `json:"moduleMs"`   // the compiled engine
	ImageMs    float64   `json:"imageMs"`    // the evaluated standard library
	SelfTestMs float64   `json:"selfTestMs"` // guests are stopped, and share nothing
	OthersMs   float64   `json:"othersMs"`   // settings, policy, records, walls
	TotalMs    float64   `json:"totalMs"`
}

func (s *Startup) engine(e sandbox.Startup) {
	s.ModuleMs, s.ImageMs, s.SelfTestMs = milliseconds(e.Module), milliseconds(e.Image), milliseconds(e.SelfTest)
}

// ready returns s with the total.
func (s Startup) ready() Startup {
	s.TotalMs = milliseconds(time.Since(s.Began))
	s.OthersMs = s.TotalMs - s.ModuleMs - s.ImageMs - s.SelfTestMs
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
