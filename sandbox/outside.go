package sandbox

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"time"
)

// outside is the one way by which the time, randomness, and the world beyond the sandbox reach a run. Whatever comes in by it
// marks the run: another run of the same code may come to something else. What a guest sees otherwise is a function of
// its code, its input and its grants.
type outside struct {
	run *run
	// now and entropy are the engine's.
	now     func() time.Time
	entropy io.Reader

	reached bool
	began   time.Duration // the guest's clock when the run began, since the Unix epoch
	stream  *rand.ChaCha8 // of a seeded run's random bytes
}

// reach marks the run: something from outside is about to come in.
func (o *outside) reach() { o.reached = true }

// origin returns the time that performance.now counts from, since the Unix epoch.
func (o *outside) origin() time.Duration {
	o.reach()
	return o.began
}

// clock returns the time since the Unix epoch, as the guest may see it.
func (o *outside) clock() time.Duration {
	o.reach()
	return o.run.readClock()
}

// seed returns the run's seed, of which placeholders of secrets are made.
func (o *outside) seed() int64 {
	o.reach()
	return o.run.result.Seed
}

// random returns the source of all of a guest's cryptographic randomness: the seed's in a seeded run, else the system's.
func (o *outside) random() io.Reader {
	o.reach()
	if !o.run.seeded {
		return recordedEntropy{o.run, o.entropy}
	}
	if o.stream == nil {
		var key [32]byte
		for i := range 4 {
			binary.LittleEndian.PutUint64(key[8*i:], mix(uint64(o.run.result.Seed)+uint64(i)+1))
		}
		o.stream = rand.NewChaCha8(key)
	}
	return o.stream
}

// random is outside.random for operations.
func (c *call) random() io.Reader { return c.outside.random() }
