package vfs

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

const (
	maxPathBytes = 1024
	maxNameBytes = 255
)

// FS is the files of one run. Paths are absolute and clean. Its methods return POSIX error codes as strings, "" for
// none, and an error if a limit ends the run.
type FS struct {
	Config
	nodes    map[string]*fileNode
	bytes    int64
	serial   int32
	packages packageFiles
}

// Config configures an FS.
type Config struct {
	Writable bool
	MaxBytes int64
	MaxFiles int // files and folders
	// TooMuch ends the run that exceeds MaxBytes or MaxFiles.
	TooMuch *hostops.LimitError
	// Memory is charged for what the run has written.
	Memory hostops.Memory
	// Package returns the files of a package that the run may read, by their paths in it. Its place is like
	// "node_modules/a" or "node_modules/a/node_modules/@b/c". It returns nil if there is no such package. It calls work
	// with the number of bytes that it has unpacked since the last call, and ends with the error of work. No files of
	// packages are there if it is nil.
	Package func(place string, work func(n int) error) (map[string][]byte, error)
}

type fileNode struct {
	data    []byte
	folder  bool
	changed bool
	// charged is the capacity of data, where it is the run's own; 0 for the content of a file that the script came with,
	// which others may have too.
	charged  int64
	mode     int32
	inode    int32
	modified time.Duration // since the Unix epoch, as utimes set it; negative when the run has begun since then
}

// touch marks the file as changed.
func (n *fileNode) touch() { n.changed, n.modified = true, -1 }

// New returns an FS that holds files. The error is Config.TooMuch.
func New(cfg Config, files map[string][]byte) (*FS, error) {
	f := &FS{Config: cfg, nodes: map[string]*fileNode{}}
	f.Writable = true
	f.add("/", true)
	f.add("/tmp", true)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p, ok := cleanPath(name)
		if !ok {
			continue // refused where requests are read
		}
		if _, err := f.makeFolder(path.Dir(p), true); err != nil {
			return nil, err
		}
		if f.nodes[p] == nil && f.parent(p) == "" {
			f.add(p, false).data = files[name]
			f.bytes += int64(len(files[name]))
		}
		if f.full() {
			return nil, f.TooMuch
		}
	}
	for _, n := range f.nodes {
		n.changed = false
	}
	f.Writable = cfg.Writable
	return f, nil
}

// cleanPath resolves a guest's path against the root. No number of .. leads out of it.
func cleanPath(p string) (string, bool) {
	if len(p) > maxPathBytes || strings.IndexByte(p, 0) >= 0 {
		return "", false
	}
	p = path.Clean("/" + p)
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > maxNameBytes {
			return "", false
		}
	}
	return p, true
}

func (f *FS) add(p string, folder bool) *fileNode {
	f.serial++
	n := &fileNode{folder: folder, mode: 0o644, inode: f.serial, modified: -1}
	if folder {
		n.mode = 0o755
	}
	f.nodes[p] = n
	return n
}

// parent returns why nothing can be made at p, or "".
func (f *FS) parent(p string) string {
	switch n := f.nodes[path.Dir(p)]; {
	case n == nil:
		return "ENOENT"
	case !n.folder:
		return "ENOTDIR"
	case !f.Writable:
		return "EROFS"
	}
	return ""
}

// through returns what is wrong on the way to p, which does not exist.
func (f *FS) through(p string) string {
	for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
		if n := f.nodes[dir]; n != nil && !n.folder {
			return "ENOTDIR"
		}
	}
	return "ENOENT"
}

func (f *FS) full() bool {
	return f.bytes > f.MaxBytes || len(f.nodes) > f.MaxFiles+2
}

// write writes data at an offset of a file, at its end (-1), or in place of its content (-2).
func (f *FS) write(p string, at int, data []byte) (string, error) {
	n := f.nodes[p]
	switch {
	case n != nil && n.folder:
		return "EISDIR", nil
	case !f.Writable:
		return "EROFS", nil
	case n == nil:
		if code := f.parent(p); code != "" {
			return code, nil
		}
		n = f.add(p, false)
	}
	before := len(n.data)
	begin := at
	switch at {
	case -2:
		begin = 0
	case -1:
		begin = before
	}
	end := begin + len(data)
	size := max(before, end)
	if at == -2 {
		size = end
	}
	if f.bytes+int64(size-before) > f.MaxBytes {
		return "", f.TooMuch
	}
	keep := min(begin, before)
	if at != -2 {
		keep = before
	}
	if err := f.own(n, keep, size); err != nil {
		return "", err
	}
	if begin > before { // a gap
		clear(n.data[before:begin])
	}
	copy(n.data[begin:], data)
	f.bytes += int64(size - before)
	n.touch()
	if f.full() {
		return "", f.TooMuch
	}
	return "", nil
}

// own makes the content of n size bytes that belong to the run. The first keep bytes stay as they were. A growing
// file gets room to grow again.
func (f *FS) own(n *fileNode, keep, size int) error {
	if n.charged > 0 && size <= cap(n.data) && (keep > 0 || size > cap(n.data)/2) {
		n.data = n.data[:size]
		return nil
	}
	room := size
	if n.charged > 0 && keep > 0 {
		room = size + size/4 + 64
	}
	if err := f.Memory.Charge(int64(room)); err != nil {
		return err
	}
	data := make([]byte, size, room)
	copy(data, n.data[:keep])
	before := n.charged
	n.data, n.charged = data, int64(room)
	f.Memory.Release(before)
	return nil
}

func (f *FS) truncate(p string, size int) (string, error) {
	n := f.nodes[p]
	if n == nil {
		return f.through(p), nil
	}
	if n.folder {
		return "EISDIR", nil
	}
	if size > len(n.data) {
		return f.write(p, size, nil)
	}
	if !f.Writable {
		return "EROFS", nil
	}
	f.bytes -= int64(len(n.data) - size)
	if err := f.own(n, size, size); err != nil {
		return "", err
	}
	n.touch()
	return "", nil
}

func (f *FS) makeFolder(p string, recursive bool) (string, error) {
	if n := f.nodes[p]; n != nil {
		if n.folder && recursive {
			return "", nil
		}
		return "EEXIST", nil
	}
	code := f.parent(p)
	if code == "ENOENT" && recursive {
		if code, err := f.makeFolder(path.Dir(p), true); code != "" || err != nil {
			return code, err
		}
		code = f.parent(p)
	}
	if code != "" {
		return code, nil
	}
	f.add(p, true)
	if f.full() {
		return "", f.TooMuch
	}
	return "", nil
}

// children returns the names in a folder, sorted.
func children(nodes map[string]*fileNode, p string) []string {
	prefix := p + "/"
	if p == "/" {
		prefix = "/"
	}
	names := []string{}
	for q := range nodes {
		if rest, ok := strings.CutPrefix(q, prefix); ok && rest != "" && !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names
}

// remove removes a file, an empty folder, or with recursive a whole one.
func (f *FS) remove(p string, folder, recursive bool) string {
	n := f.nodes[p]
	switch {
	case n == nil:
		return f.through(p)
	case !f.Writable:
		return "EROFS"
	case p == "/":
		return "EBUSY"
	case n.folder && !folder:
		return "EISDIR"
	case !n.folder && folder && !recursive:
		return "ENOTDIR"
	case n.folder && !recursive && len(children(f.nodes, p)) > 0:
		return "ENOTEMPTY"
	}
	for q, m := range f.nodes {
		if q == p || strings.HasPrefix(q, p+"/") {
			f.bytes -= int64(len(m.data))
			f.Memory.Release(m.charged)
			delete(f.nodes, q)
		}
	}
	return ""
}

func (f *FS) rename(from, to string) string {
	n, target := f.nodes[from], f.nodes[to]
	if n == nil {
		return f.through(from)
	}
	if code := f.parent(to); code != "" {
		return code
	}
	switch {
	case from == to:
		return ""
	case from == "/" || to == "/":
		return "EBUSY"
	case strings.HasPrefix(to, from+"/"):
		return "EINVAL"
	case target != nil && target.folder && !n.folder:
		return "EISDIR"
	case target != nil && !target.folder && n.folder:
		return "ENOTDIR"
	case target != nil && target.folder && len(children(f.nodes, to)) > 0:
		return "ENOTEMPTY"
	}
	if target != nil {
		f.bytes -= int64(len(target.data))
		f.Memory.Release(target.charged)
	}
	moved := map[string]*fileNode{}
	for q, m := range f.nodes {
		if q == from || strings.HasPrefix(q, from+"/") {
			moved[to+q[len(from):]] = m
			m.changed = true
			delete(f.nodes, q)
		}
	}
	for q, m := range moved {
		f.nodes[q] = m
	}
	return ""
}

// State is a file or a folder of an FS.
type State struct {
	Path            string
	Folder, Changed bool
	// Own reports that the run has made the content.
	Own      bool
	Mode     int32
	Inode    int32
	Modified time.Duration
	Data     []byte
}

// States returns everything in the FS, in the order of paths.
func (f *FS) States() []State {
	out := make([]State, 0, len(f.nodes))
	for p, n := range f.nodes {
		out = append(out, State{p, n.folder, n.changed, n.charged > 0, n.mode, n.inode, n.modified, n.data})
	}
	slices.SortFunc(out, func(a, b State) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// Restore returns an FS that holds what States returned. Content that the script came with is taken from files. ok is
// false if no FS can hold states. An error is a limit of the run.
func Restore(cfg Config, states []State, files map[string][]byte) (f *FS, ok bool, err error) {
	f = &FS{Config: cfg, nodes: make(map[string]*fileNode, len(states))}
	if len(states) > cfg.MaxFiles+2 {
		return nil, true, cfg.TooMuch
	}
	for _, s := range states {
		p, clean := cleanPath(s.Path)
		if above := f.nodes[path.Dir(p)]; !clean || p != s.Path || f.nodes[p] != nil || s.Folder && len(s.Data) > 0 ||
			p == "/" != (above == nil) || above != nil && !above.folder || p == "/" && !s.Folder {
			return nil, false, nil
		}
		n := &fileNode{data: s.Data, folder: s.Folder, changed: s.Changed, mode: s.Mode & 0o7777, inode: s.Inode,
			modified: s.Modified}
		if file := files[strings.TrimPrefix(p, "/")]; !s.Own && len(file) == len(s.Data) && bytes.Equal(file, s.Data) {
			n.data = file
		} else if len(s.Data) > 0 {
			if err := f.Memory.Charge(int64(len(s.Data))); err != nil {
				return nil, true, err
			}
			n.data, n.charged = bytes.Clone(s.Data), int64(len(s.Data))
		}
		f.nodes[p], f.serial, f.bytes = n, max(f.serial, s.Inode), f.bytes+int64(len(s.Data))
	}
	switch {
	case f.nodes["/"] == nil:
		return nil, false, nil
	case f.full():
		return nil, true, f.TooMuch
	}
	return f, true, nil
}

// Begin forgets which files the run has changed, and adds those that a script brings along.
func (f *FS) Begin(files map[string][]byte) error {
	writable := f.Writable
	f.Writable = true
	defer func() { f.Writable = writable }()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p, ok := cleanPath(name)
		if n := f.nodes[p]; !ok || n != nil && (n.folder || bytes.Equal(n.data, files[name])) {
			continue
		}
		if _, err := f.makeFolder(path.Dir(p), true); err != nil {
			return err
		}
		if _, err := f.write(p, -2, files[name]); err != nil {
			return err
		}
	}
	for _, n := range f.nodes {
		n.changed = false
	}
	return nil
}

// Written returns the files that the run made or changed, by relative path; nil for none.
func (f *FS) Written() map[string][]byte {
	var out map[string][]byte
	for p, n := range f.nodes {
		if n.changed && !n.folder {
			if out == nil {
				out = map[string][]byte{}
			}
			out[p[1:]] = n.data
		}
	}
	return out
}
