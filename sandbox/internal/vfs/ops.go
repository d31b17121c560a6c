package vfs

import (
	"path"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Ops returns the operations behind the library's fs, by name. They answer a value, or the code of a POSIX error as a
// string.
func (f *FS) Ops() map[string]hostops.Op {
	ops := make(map[string]hostops.Op)
	for name, op := range map[string]func(*hostops.Call, string, []quickjs.Value) (quickjs.Value, error){
		"fs.stat": f.statOp, "fs.read": f.readOp, "fs.write": f.writeOp, "fs.truncate": f.truncateOp, "fs.mkdir": f.mkdirOp,
		"fs.remove": f.removeOp, "fs.rename": f.renameOp, "fs.list": f.listOp, "fs.change": f.changeOp,
	} {
		ops[name] = func(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
			text, ok := c.Word(a[0], maxPathBytes)
			if !ok {
				return c.NewString("ENAMETOOLONG")
			}
			p, ok := cleanPath(text)
			if !ok {
				return c.NewString("ENAMETOOLONG")
			}
			if name != "fs.stat" && name != "fs.read" && name != "fs.list" {
				if fixed, err := f.fixed(c, p); fixed || err != nil {
					return code(c, "EROFS", err)
				}
			}
			return op(c, p, a[1:])
		}
	}
	return ops
}

// walkWork announces the work of visiting all files, as operations on folders do.
func (f *FS) walkWork(c *hostops.Call) error { return c.Work(32 * len(f.nodes)) }

// code answers with a POSIX error code, or with true.
func code(c *hostops.Call, code string, err error) (quickjs.Value, error) {
	switch {
	case err != nil:
		return 0, err
	case code != "":
		return c.NewString(code)
	}
	return quickjs.Bool(true), nil
}

func flag(v quickjs.Value) bool { return v == quickjs.Bool(true) }

// statOp answers fs.stat(path): it returns [folder, size, modified ms, mode, inode]. modified is null for what this
// run has changed, all of which counts as its beginning; the library asks for that time if it needs it (timeOrigin).
func (f *FS) statOp(c *hostops.Call, p string, _ []quickjs.Value) (quickjs.Value, error) {
	n, err := f.look(c, p)
	if err != nil {
		return 0, err
	}
	if n == nil {
		return c.NewString(f.through(p))
	}
	mode := n.mode
	if !f.Writable {
		mode &^= 0o222
	}
	var modified any
	if n.modified >= 0 {
		modified = float64(n.modified) / float64(time.Millisecond)
	}
	return c.NewJSON([]any{n.folder, len(n.data), modified, mode, n.inode})
}

// readOp answers fs.read(path, from, most): it returns the content, or at most so many bytes of it.
func (f *FS) readOp(c *hostops.Call, p string, a []quickjs.Value) (quickjs.Value, error) {
	n, err := f.look(c, p)
	if err != nil {
		return 0, err
	}
	if n == nil {
		return c.NewString(f.through(p))
	}
	if n.folder {
		return c.NewString("EISDIR")
	}
	from, part := a[0].Int()
	most, bounded := a[1].Int()
	if !part || !bounded {
		return c.NewBytes(n.data)
	}
	begin := min(max(int(from), 0), len(n.data))
	return c.NewBytes(n.data[begin:min(begin+max(int(most), 0), len(n.data))])
}

// writeOp answers fs.write(path, at, bytes).
func (f *FS) writeOp(c *hostops.Call, p string, a []quickjs.Value) (quickjs.Value, error) {
	at, ok := a[0].Int()
	if !ok || at < -2 {
		return c.NewString("EINVAL")
	}
	data, err := c.View(a[1])
	if err != nil {
		return 0, err
	}
	if int64(len(data)) > f.MaxBytes {
		return 0, f.TooMuch
	}
	if err := c.Work(len(data) / 4); err != nil {
		return 0, err
	}
	result, err := f.write(p, int(at), data)
	return code(c, result, err)
}

// truncateOp answers fs.truncate(path, size).
func (f *FS) truncateOp(c *hostops.Call, p string, a []quickjs.Value) (quickjs.Value, error) {
	size, ok := a[0].Int()
	if !ok || size < 0 {
		return c.NewString("EINVAL")
	}
	result, err := f.truncate(p, int(size))
	return code(c, result, err)
}

// mkdirOp answers fs.mkdir(path, recursive).
func (f *FS) mkdirOp(c *hostops.Call, p string, a []quickjs.Value) (quickjs.Value, error) {
	result, err := f.makeFolder(p, flag(a[0]))
	return code(c, result, err)
}

// removeOp answers fs.remove(path, folder, recursive).
func (f *FS) removeOp(c *hostops.Call, p string, a []quickjs.Value) (quickjs.Value, error) {
	if err := f.walkWork(c); err != nil {
		return 0, err
	}
	return code(c, f.remove(p, flag(a[0]), flag(a[1])), nil)
}

// renameOp answers fs.rename(from, to).
func (f *FS) renameOp(c *hostops.Call, p string, a []quickjs.Value) (quickjs.Value, error) {
	if err := f.walkWork(c); err != nil {
		return 0, err
	}
	text, ok := c.Word(a[0], maxPathBytes)
	to, ok2 := cleanPath(text)
	if !ok || !ok2 {
		return c.NewString("ENAMETOOLONG")
	}
	return code(c, f.rename(p, to), nil)
}

// listOp answers fs.list(path): it returns names, each followed by whether it is a folder.
func (f *FS) listOp(c *hostops.Call, p string, _ []quickjs.Value) (quickjs.Value, error) {
	n, err := f.look(c, p)
	if err != nil {
		return 0, err
	}
	if n == nil {
		return c.NewString(f.through(p))
	}
	if !n.folder {
		return c.NewString("ENOTDIR")
	}
	if err := f.walkWork(c); err != nil {
		return 0, err
	}
	nodes := f.nodes
	if nodes[p] == nil {
		nodes = f.packages.nodes
		if err := c.Work(32 * len(nodes)); err != nil {
			return 0, err
		}
	}
	out := []any{}
	for _, name := range children(nodes, p) {
		out = append(out, name, nodes[path.Join(p, name)].folder)
	}
	return c.NewJSON(out)
}

// changeOp answers fs.change(path, mode or -1, modified seconds or -1), which chmod and utimes need.
func (f *FS) changeOp(c *hostops.Call, p string, a []quickjs.Value) (quickjs.Value, error) {
	n := f.nodes[p]
	if n == nil {
		return c.NewString(f.through(p))
	}
	if !f.Writable {
		return c.NewString("EROFS")
	}
	if mode, ok := a[0].Int(); ok && mode >= 0 {
		n.mode = mode & 0o7777
	}
	if seconds, ok := a[1].Int(); ok && seconds >= 0 {
		n.modified = time.Duration(seconds) * time.Second
	}
	return quickjs.Bool(true), nil
}
