package sandbox

import "time"

// Startup is how long the parts of New took.
type Startup struct {
	// Module is checking, rewriting and compiling the engine, or loading it from Config.CacheDir.
	Module time.Duration
	// Image is evaluating the standard library, or reading the image from there.
	Image    time.Duration
	SelfTest time.Duration
}

// Startup tells how long the parts of New took.
func (e *Engine) Startup() Startup { return e.startup }

// lap gives the time since *from, and sets *from to now.
func lap(from *time.Time) time.Duration {
	now := time.Now()
	took := now.Sub(*from)
	*from = now
	return took
}
