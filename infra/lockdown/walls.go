package lockdown

// Config lists what the process still needs. The zero value allows no files and no network.
type Config struct {
	// Read and Write are existing folders: files below Read can be read; files below Write can also be written,
	// created, renamed and removed. Nothing can be executed anywhere.
	Read, Write []string
	// Ports are the TCP ports that the process may connect to, such as the Runtime API's.
	Ports []uint16
	// Sealed leaves only the open descriptors: no call that takes a path or an address passes. It excludes all other
	// fields.
	Sealed bool
	// Network allows connections to every TCP port, UDP, and reading the files of the resolver and the certificates.
	// Listening stays refused.
	Network bool
}

// A Wall is one kind of confinement.
type Wall string

// The walls.
const (
	NoNewPrivs Wall = "no_new_privs"     // no program can give this process more rights than it has
	Files      Wall = "landlock files"   // only the folders of Config
	Ports      Wall = "landlock ports"   // only the TCP ports of Config
	Signals    Wall = "landlock signals" // no signal to, and no abstract socket of, another process
	Syscalls   Wall = "seccomp"          // only the system calls that a function process makes
	NoDumps    Wall = "no core dumps"    // memory is not written to disk, nor read by another process
	NoSockets  Wall = "no sockets"       // none can be opened, connected or listened on
	NoFiles    Wall = "no files"         // none can be opened, looked at or removed
	NoCode     Wall = "no new code"      // no memory becomes executable
)

// Walls lists the active walls and those that the kernel lacks, for the start-up log.
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
