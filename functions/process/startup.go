package process

import (
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// Startup is how long the parts of a start took, in milliseconds; it is logged when the process is ready. What came
// before Began is the system's and the Go runtime's.
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

// ready fills in the rest.
func (s Startup) ready() Startup {
	s.TotalMs = milliseconds(time.Since(s.Began))
	s.OthersMs = s.TotalMs - s.ModuleMs - s.ImageMs - s.SelfTestMs
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
