package raw

// Program is a list of scripts or one module, evaluated in a fresh guest in their order, as a browser's script elements
// are. What they print is the run's output.
type Program struct {
	Sources []Source
}

// Source is one script.
type Source struct {
	Name, Text string
	Module     bool
}

// Plain asks for an engine without the library: its guests have print, and nothing else of ours.
type Plain struct{}

// Basic asks for an engine whose library is console, timers and results alone.
type Basic struct{}
