package sandbox

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/journal"
)

// seededEpoch is where the clock of a seeded run starts: 2000-01-01T00:00:00Z.
const seededEpoch = 946684800 * time.Second

// clockGrain is the step in which guests see time pass, so that they cannot time what other guests do.
const clockGrain = 100 * time.Microsecond

// outside is the only way in which time, randomness and answers from beyond the sandbox reach a run. Each of them
// taints the run: another run of the same code may have another result. Everything else that a guest sees is a function
// of its code, its input and its grants.
type outside struct {
	// now and entropy are the engine's.
	now     func() time.Time
	entropy io.Reader
	tape    journal.Tape

	seed    int64
	seeded  bool
	start   time.Time
	virtual time.Duration // the clock of a seeded run, since its start
	began   time.Duration // the guest's clock when the run began, since the Unix epoch
	tainted bool
	stream  *rand.ChaCha8 // of a seeded run's random bytes
}

// begin sets the seed and the clock: those of a journal, of the script, or new ones.
func (o *outside) begin(seed *int64, replay *Journal) error {
	switch {
	case replay != nil:
		o.seed, o.seeded = replay.Seed, replay.Seeded
		o.tape = journal.Play(replay.Events)
	case seed != nil:
		o.seed, o.seeded = *seed, true
	default:
		var b [8]byte
		if _, err := io.ReadFull(o.entropy, b[:]); err != nil {
			return fmt.Errorf("draw a seed: %w", err)
		}
		o.seed = int64(binary.LittleEndian.Uint64(b[:]))
	}
	o.began = o.readClock()
	return nil
}

// taint records that something from outside is about to reach the guest.
func (o *outside) taint() { o.tainted = true }

// origin returns the time that performance.now counts from, since the Unix epoch.
func (o *outside) origin() time.Duration {
	o.taint()
	return o.began
}

// clock returns the time since the Unix epoch, as the guest may see it.
func (o *outside) clock() time.Duration {
	o.taint()
	return o.readClock()
}

func (o *outside) readClock() time.Duration {
	if o.seeded {
		return seededEpoch + o.virtual
	}
	return o.tape.Clock(func() time.Duration { return time.Duration(o.now().UnixNano()) / clockGrain * clockGrain })
}

// elapsed returns how long the run has taken.
func (o *outside) elapsed() time.Duration { return time.Since(o.start) }

// timerClock returns the time by which timers are set, since the start of the run.
func (o *outside) timerClock() time.Duration {
	if o.seeded {
		return o.virtual
	}
	return o.elapsed()
}

// secretSeed returns the seed of the placeholders of secrets.
func (o *outside) secretSeed() int64 {
	o.taint()
	return o.seed
}

// random returns the source of all of a guest's cryptographic randomness: the seed's in a seeded run, else the
// system's.
func (o *outside) random() io.Reader {
	o.taint()
	if !o.seeded {
		return o.tape.Random(o.entropy)
	}
	if o.stream == nil {
		var key [32]byte
		for i := range 4 {
			binary.LittleEndian.PutUint64(key[8*i:], mix(uint64(o.seed)+uint64(i)+1))
		}
		o.stream = rand.NewChaCha8(key)
	}
	return o.stream
}

// mix spreads a seed over all bits (the finalizer of SplitMix64, Steele et al. 2014): near seeds give unrelated
// numbers.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
