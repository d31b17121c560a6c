package raw

// Program is a list of scripts or one module, evaluated in order in a fresh guest, like a browser's script elements.
// What they print is the output of the run.
type Program struct {
	Sources []Source
}

// Source is one script.
type Source struct {
	Name, Text string
	Module     bool
}

// Plain asks for an engine without the library: its guests have print, and nothing else that the sandbox adds.
type Plain struct{}

// Basic asks for an engine whose library is only console, timers and results.
type Basic struct{}
