package lockdown

// Config is what the process still needs. The zero value leaves it no files and no network.
type Config struct {
	// Read and Write are folders, which must exist: below Read files can be read, below Write also written, created,
	// renamed and removed. Nothing can be executed anywhere.
	Read, Write []string
	// Ports are the TCP ports that may still be connected to, such as the Runtime API's.
	Ports []uint16
	// Sealed leaves it no files and no sockets but the descriptors that are open already: no call that takes a path or an
	// address is let through. It goes with nothing else that is set.
	Sealed bool
	// Network lets the process connect to every TCP port and use UDP, and read what name resolution and TLS need: the
	// files of the resolver and the certificates. Listening stays refused.
	Network bool
}

// Wall is one thing that holds.
type Wall string

// The walls.
const (
	NoNewPrivs Wall = "no_new_privs"     // no program can give us more rights than we have
	Files      Wall = "landlock files"   // only the folders of Config
	Ports      Wall = "landlock ports"   // only the TCP ports of Config
	Signals    Wall = "landlock signals" // no signal to, and no abstract socket of, another process
	Syscalls   Wall = "seccomp"          // only the system calls that a function process makes
	NoDumps    Wall = "no core dumps"    // memory is not written to disk, nor read by another process
	NoSockets  Wall = "no sockets"       // none can be opened, connected or listened on
	NoFiles    Wall = "no files"         // none can be opened, looked at or removed
)

// Walls says which walls stand, and which the kernel lacks. It is for the start-up line.
type Walls struct {
	Standing []Wall
	Missing  []Wall
}

func (w *Walls) add(wall Wall, stands bool) {
	if stands {
		w.Standing = append(w.Standing, wall)
		return
	}
	w.Missing = append(w.Missing, wall)
}
