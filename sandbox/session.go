package sandbox

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/snapshot"
)

// noScript is the hash in the snapshot of a session between two steps: any script continues it.
var noScript [32]byte

// Step runs a script as a step of a session, in a brand-new guest that continues from the Result.Snapshot of an
// earlier step; nil begins a session. What the script declares at its top level (let, const, var, functions, classes,
// imports) is there for later steps, and so are globals, files and timers. Declaring a name again makes a new
// variable, as in the console of a browser.
//
//   - The snapshot is not changed. A step that fails leaves it as it was, and two steps from one snapshot are a fork.
//   - Result.Snapshot is nil unless the step completed with its guest: not after a failure or process.exit.
//   - A step that waits parks; Resume continues it, and its Result has the Snapshot.
//   - Each step has limits of its own, but for the memory that the session takes. Grants may differ between steps.
//   - Requests that a step did not wait for are aborted. Its timers go on in later steps, which do not wait for them.
//   - A function that stands alone is declared, and not called. What the first step imports of packages is evaluated
//     ahead, as in Run, and the same modules serve later steps. Other packages are evaluated by each step that imports
//     them.
//
// The errors are those of Resume.
func (e *Engine) Step(ctx context.Context, from []byte, script Script, grants Grants) (Result, error) {
	e.running.Add(1)
	defer e.running.Add(-1)
	r := e.newRun(ctx, grants)
	defer r.abandon()
	g := segment{r}
	if script.Engine != "" {
		return Result{}, fmt.Errorf("engine %q does not support sessions", script.Engine)
	}
	before, err := g.beginStep(from, script)
	if err != nil {
		return Result{}, err
	}
	r.step, r.origin.script = r.segment+1, hashOfScript(script)
	p, err := (importer{r}).takeStep(script)
	defer e.versions.release(p)
	if err != nil {
		return r.failEarly(err)
	}
	defer r.requests.begin(ctx)()
	end, err := r.grant(script)
	if err != nil {
		return r.failEarly(err)
	}
	defer end()
	if before == nil {
		return g.firstStep(script)
	}
	in, err := g.restore(before, script)
	if err != nil {
		return g.refused(err)
	}
	defer in.Close()
	in.EnableEval() // compiling needs it; execute removes it
	own := &guest{r, in}
	if err = own.abortLost(); err == nil && !r.stage.failed {
		r.rejected = nil // no code could have handled these yet
		err = own.execute(script)
	}
	return r.ended(in, err)
}

// stepFile returns the file name that the engine knows the code of a step by.
func stepFile(step int) string { return "session-step-" + strconv.Itoa(step) }

var stepFrame = regexp.MustCompile(`\bsession-step-(\d+):\d+:\d+`)

// frames returns the frames of a stack as the source of the run knows them. The source of an earlier step is gone, so
// its frames name the step and no position.
func (o *origin) frames(frames string) string {
	if o.step == 0 {
		return frames
	}
	return stepFrame.ReplaceAllString(strings.ReplaceAll(frames, stepFile(o.step)+":", quickjs.ScriptName+":"), "step $1")
}

// beginStep returns the state that a step continues from, nil for the first.
func (g segment) beginStep(from []byte, script Script) (*snapshot.State, error) {
	if from == nil {
		return nil, g.begin(script.Seed)
	}
	s, err := g.open(from)
	if err != nil {
		return nil, err
	}
	if s.Step == 0 || s.Script != noScript {
		return nil, fmt.Errorf("%w: it was not taken between two steps of a session", ErrSnapshot)
	}
	return s, g.takeState(s)
}

// firstStep runs the first step of a session.
func (g segment) firstStep(script Script) (Result, error) {
	r := g.run
	in, err := r.image.NewInstance(r.ctx, r.memory.Budget, r)
	if err != nil {
		return Result{}, err
	}
	defer in.Close()
	in.SetRandom(mix(uint64(r.outside.seed)))
	in.SetTimeOrigin(r.outside.began)
	return r.ended(in, (&guest{r, in}).execute(script))
}

// keepSession ends a step with a snapshot of the session. A step that failed has none.
func (g segment) keepSession(in *quickjs.Instance) error {
	if g.stage.failed || g.result.Error != "" {
		return nil
	}
	text, err := g.snapshot(in, func(s *snapshot.State) {
		for _, w := range s.Waits {
			s.Lost = append(s.Lost, w.ID)
		}
		s.Script, s.Waits, s.NextWait, s.Output, s.Logs = noScript, nil, 0, nil, nil
		s.Stage, s.Used = snapshot.Stage{Steps: s.Stage.Steps}, snapshot.Used{}
		s.Guest.Ticks, s.Guest.Rejected = 0, nil
	})
	g.result.Snapshot = text
	return err
}

// heldPackages are the modules of packages that a guest has, by their keys, and the packages that they are of.
type heldPackages struct {
	Keys     []string    `json:"keys"`
	Packages []PackageID `json:"packages"`
	// Notes are those of the image that the guest comes from.
	Notes quickjs.Notes
}

// leastStepImage is what an image of packages has beyond the library's if a session starts from it. Images have larger
// tables than guests, which each snapshot repeats: for small packages that costs more than evaluating them again.
const leastStepImage = 1 << 20

// takeStep prepares the source of a step of a session. The first step starts from an image as a run does, unless that
// is small. Later ones find the modules of its packages in the guest. What the guest does not have becomes part of the
// source.
func (r importer) takeStep(script Script) (*version, error) {
	first := r.segment == 0
	r.live = r.held.Notes.Live
	if err := r.prepareSource(script, first || len(r.held.Keys) > 0); err != nil {
		return nil, err
	}
	if first {
		p, err := r.takePackages(script, nil)
		if err != nil || p == nil || p.image == nil || p.image.Size() >= r.engine.image.Size()+leastStepImage {
			return p, err
		}
		r.image, r.stamps, r.late, r.held, r.result.PackagesCold = r.engine.image, nil, false, heldPackages{}, ""
		return p, r.prepareSource(script, false)
	}
	r.result.Packages, r.result.PackagesCold = r.imported(), ""
	has := func(key string) bool { return slices.Contains(r.held.Keys, key) }
	same := func(p PackageID) bool { return slices.Contains(r.held.Packages, p) }
	for _, key := range r.source.Ahead() {
		if !has(key) || slices.ContainsFunc(r.result.Packages, func(p PackageID) bool { return !same(p) }) {
			err := r.prepareSource(script, false)
			r.result.Packages = r.imported()
			return nil, err
		}
	}
	return nil, nil // no image
}
