package sandbox

import (
	"container/list"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
)

// DefaultWarmBytes is what the images of versions may take unless Config says otherwise.
const DefaultWarmBytes = 48 << 20

// maxVersions bounds the versions that are remembered, with an image or without.
const maxVersions = 64

// versionKey tells apart what can be told apart while code loads: two runs with the same key see the same.
type versionKey struct {
	version string
	eval    bool
	files   FileAccess
	modules string // names, as JSON
	globals string // names that the run brings along, and whether they are enumerable, as JSON
}

// version is what the code of a Script.Version comes to before it is called. Its fields but the last two are set once, by
// the run that loads it, before others see it.
type version struct {
	key    versionKey
	owner  string
	loaded bool
	source *source.Source
	image  *quickjs.Image // nil when it has none
	cold   string         // why
	ticks  int64          // of loading
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

// take gives the version of a script, new when it is not known; nil when the script is of none, or is watched too closely
// for a start in the middle. What take gave is given back by release.
func (v *versions) take(script Script, grants Grants) (*version, error) {
	if script.Version == "" || grants.Debug != (Debug{}) {
		return nil, nil // no version
	}
	key, err := keyOf(script, grants)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.by[key]; e != nil {
		v.order.MoveToFront(e)
		known, _ := e.Value.(*version)
		known.users++
		return known, nil
	}
	return &version{key: key, owner: script.Owner, users: 1}, nil
}

// keep makes a version that was loaded known. Another run may have been faster: then this one serves its own run alone.
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

// oldestOfLargest returns the version that was used longest ago of the owner whose versions take most, but for one version:
// an owner with thousands of functions pushes out their own.
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

// drop forgets x; its image goes when its last run has ended.
func (v *versions) drop(x *version) {
	v.order.Remove(v.by[x.key])
	delete(v.by, x.key)
	v.bytes -= x.bytes
	x.dropped = true
	if x.users == 0 {
		_ = x.close() // it was only memory
	}
}

// release gives back what take gave.
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

// keyOf gives all that code can tell of a run's grants, and of what it brings along, while it loads.
func keyOf(script Script, g Grants) (versionKey, error) {
	modules, err := json.Marshal(slices.Sorted(slices.Values(g.Modules)))
	if err != nil {
		return versionKey{}, err
	}
	globals, err := json.Marshal(broughtAlong(script, g))
	return versionKey{script.Version, g.Eval, g.Files, string(modules), string(globals)}, err
}

// broughtAlong are the globals that a run has and its library has not, and whether they are enumerable.
func broughtAlong(script Script, g Grants) map[string]bool {
	names := map[string]bool{"input": false}
	for _, t := range g.Tools {
		namespace, _ := ToolGlobal(t.Name)
		names[namespace] = false
	}
	for name := range g.HostCalls {
		namespace, _ := ToolGlobal(name)
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
