package vfs

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

// packageFiles are the files and folders of packages that code has looked for. They are below the files of the run:
// nothing changes them, they count against no limit, and no state holds them.
type packageFiles struct {
	nodes map[string]*fileNode
	have  map[string]bool // places
}

const (
	packagesFolder = "/node_modules/"
	// unpackWork is the work of unpacking a byte.
	unpackWork = 4
	// nodeBytes is about what a node takes of the host's memory, with its path.
	nodeBytes = 256
	// packed is the time that npm gives all files of an archive: 1985-10-26T08:15:00Z.
	packed = 499162500 * time.Second
)

// placesOf returns the places of the packages that may contain p, the innermost first.
func placesOf(p string) (places []string) {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		end := i + 2
		if part != "node_modules" || end > len(parts) {
			continue
		}
		if strings.HasPrefix(parts[i+1], "@") {
			end++
		}
		if end <= len(parts) {
			places = append(places, strings.Join(parts[1:end], "/"))
		}
	}
	slices.Reverse(places)
	return places
}

// look returns the file or folder at p, of the run or of a package; nil if there is none.
func (f *FS) look(c *hostops.Call, p string) (*fileNode, error) {
	if n := f.nodes[p]; n != nil || f.Package == nil || !strings.HasPrefix(p, packagesFolder) {
		return n, nil
	}
	for _, place := range placesOf(p) {
		if f.packages.have[place] {
			continue
		}
		var stop error // a limit of the run
		files, err := f.Package(place, func(n int) error {
			stop = c.Work(unpackWork * n)
			return stop
		})
		if err = cmp.Or(stop, err); err != nil {
			return nil, err
		}
		if files == nil { // not noted: code may ask for any number of places
			continue
		}
		if err := c.Work(32 * len(files)); err != nil {
			return nil, err
		}
		if err := f.Memory.Charge(int64(nodeBytes * len(files))); err != nil {
			return nil, err
		}
		f.packages.add(place, files)
	}
	return f.packages.nodes[p], nil
}

func (pf *packageFiles) add(place string, files map[string][]byte) {
	if pf.have == nil {
		pf.nodes, pf.have = map[string]*fileNode{}, map[string]bool{}
	}
	pf.have[place] = true
	for name, data := range files {
		p := "/" + place + "/" + name
		pf.nodes[p] = &fileNode{data: data, mode: 0o444, modified: packed}
		for dir := path.Dir(p); pf.nodes[dir] == nil && len(dir) > len(place); dir = path.Dir(dir) {
			pf.nodes[dir] = &fileNode{folder: true, mode: 0o555, modified: packed}
		}
	}
}

// fixed reports whether p is, or would be, in a folder of a package.
func (f *FS) fixed(c *hostops.Call, p string) (bool, error) {
	for _, q := range [...]string{p, path.Dir(p)} {
		if f.nodes[q] != nil {
			return false, nil
		}
		if n, err := f.look(c, q); n != nil || err != nil {
			return true, err
		}
	}
	return false, nil
}
