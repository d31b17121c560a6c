package sandbox

import (
	"container/list"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
)

// DefaultWarmBytes is the value of Config.WarmBytes if it is not set.
const DefaultWarmBytes = 96 << 20

// maxVersions bounds the versions that are remembered, with an image or without.
const maxVersions = 64

// versionKey holds everything that loading code can observe: loading has the same result for two runs with the same
// key.
type versionKey struct {
	version string
	eval    bool
	files   FileAccess
	modules string // see modulesKey
	// packages is the identity of those that the code may import.
	packages string
	globals  string // names that the run brings along, and whether they are enumerable, as JSON
}

// version is the loaded code of a Script.Version. Its fields but the last two are set once, by the run that loads it,
// before others see it.
type version struct {
	key    versionKey
	owner  string
	loaded bool
	source *source.Source
	image  *quickjs.Image // nil when it has none
	stamps *quickjs.Stamps
	cold   string // why
	notes  quickjs.Notes
	ticks  int64 // of loading
	bytes  int64

	users   int
	dropped bool
}

// versions keeps the versions that were used last. It is safe for concurrent use.
type versions struct {
	limit int64

	mu    sync.Mutex
	by    map[versionKey]*list.Element
	order *list.List // of *version, the one used last in front
	bytes int64
}

func newVersions(limit int64) *versions {
	return &versions{limit: limit, by: map[versionKey]*list.Element{}, order: list.New()}
}

// take returns the version of a script, a new one if it is unknown. It returns nil if the script has no version, or if
// its run reports every statement and so must run the first one itself. release ends what take began.
func (v *versions) take(script Script, grants Grants) (*version, error) {
	if script.Version == "" || grants.Debug != (Debug{}) {
		return nil, nil // no version
	}
	key, err := keyOf(script, grants)
	if err != nil {
		return nil, err
	}
	return v.takeKey(key, script.Owner), nil
}

// takeKey returns the version under a key, a new one if it is unknown.
func (v *versions) takeKey(key versionKey, owner string) *version {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.by[key]; e != nil {
		v.order.MoveToFront(e)
		known, _ := e.Value.(*version)
		known.users++
		return known
	}
	return &version{key: key, owner: owner, users: 1}
}

// keep adds a version that was loaded. If another run was faster, it serves its own run alone.
func (v *versions) keep(x *version) {
	x.bytes = int64(len(x.source.Text))*4 + 1<<10 // with its source map
	if x.image != nil {
		x.bytes += int64(x.image.Size())
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.by[x.key] != nil || x.bytes > v.limit {
		x.dropped = true
		return
	}
	v.by[x.key] = v.order.PushFront(x)
	v.bytes += x.bytes
	for v.bytes > v.limit || v.order.Len() > maxVersions {
		oldest := v.oldestOfLargest(x)
		if oldest == nil {
			return
		}
		v.drop(oldest)
	}
}

// oldestOfLargest returns the least recently used version of the owner whose versions take most, but never the
// version but: an owner with thousands of functions evicts their own.
func (v *versions) oldestOfLargest(but *version) *version {
	bytes := map[string]int64{}
	for e := v.order.Front(); e != nil; e = e.Next() {
		known, _ := e.Value.(*version)
		bytes[known.owner] += known.bytes
	}
	var found *version
	for e := v.order.Back(); e != nil; e = e.Prev() {
		known, _ := e.Value.(*version)
		if known != but && (found == nil || bytes[known.owner] > bytes[found.owner]) {
			found = known
		}
	}
	return found
}

// drop removes x. Its image is closed when its last run has ended.
func (v *versions) drop(x *version) {
	v.order.Remove(v.by[x.key])
	delete(v.by, x.key)
	v.bytes -= x.bytes
	x.dropped = true
	if x.users == 0 {
		_ = x.close() // it was only memory
	}
}

// release ends the use of a version that take returned.
func (v *versions) release(x *version) {
	if x == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	x.users--
	if x.users == 0 && x.dropped {
		_ = x.close() // it was only memory
	}
}

// close drops every version. No run may be in progress.
func (v *versions) close() error {
	var errs []error
	for e := v.order.Front(); e != nil; e = e.Next() {
		x, _ := e.Value.(*version)
		errs = append(errs, x.close())
	}
	return errors.Join(errs...)
}

func (x *version) close() error {
	if x.image == nil {
		return nil
	}
	return x.image.Close()
}

// keyOf returns what code can observe, while it loads, of the grants of its run and of the globals that the run adds.
func keyOf(script Script, g Grants) (versionKey, error) {
	globals, err := json.Marshal(broughtAlong(script, g))
	return versionKey{script.Version, g.Eval, g.Files, modulesKey(g.Modules), identityOf(g.Packages), string(globals)}, err
}

// noGlobals is versionKey.globals of code that is granted nothing: only the input is different in each run.
const noGlobals = `{"input":false}`

// modulesKey returns a text that differs between sets of modules.
func modulesKey(names []string) string {
	if slices.IsSorted(names) {
		return strings.Join(names, "\n")
	}
	return strings.Join(slices.Sorted(slices.Values(names)), "\n")
}

// broughtAlong returns the globals that a run adds to those of the library, and whether they are enumerable.
func broughtAlong(script Script, g Grants) map[string]bool {
	names := map[string]bool{"input": false}
	for _, t := range g.Tools {
		namespace, _ := ToolGlobal(t.Name)
		names[namespace] = false
	}
	if g.Network.Mode != NetworkNone {
		names["api"] = false
	}
	if len(g.Network.Secrets) > 0 {
		names["secrets"] = false
	}
	for name := range script.Context {
		names[name] = true
	}
	return names
}
