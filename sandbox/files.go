package sandbox

import (
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// grantFiles makes the operations behind the library's fs. What they answer is a value, or the code of a POSIX error as a
// string.
func (r *run) grantFiles(script Script, access FileAccess) error {
	if access == FilesNone {
		return nil
	}
	f, err := newFileSystem(access, r.limits, script.Files, func() time.Duration { return r.web.origin })
	if err != nil {
		return err
	}
	r.files = f
	for name, op := range map[string]func(in *quickjs.Instance, p string, a []quickjs.Value) (quickjs.Value, error){
		"fs.stat": f.statOp, "fs.read": f.readOp, "fs.write": f.writeOp, "fs.truncate": f.truncateOp, "fs.mkdir": f.mkdirOp,
		"fs.remove": f.removeOp, "fs.rename": f.renameOp, "fs.list": f.listOp, "fs.change": f.changeOp,
	} {
		r.syncOps[name] = func(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
			text, ok := in.Str(a[0], maxPathBytes)
			if !ok {
				return in.String("ENAMETOOLONG")
			}
			p, ok := cleanPath(text)
			if !ok {
				return in.String("ENAMETOOLONG")
			}
			return op(in, p, a[1:])
		}
	}
	return nil
}

// code answers with a POSIX code, or with true.
func code(in *quickjs.Instance, c string, err error) (quickjs.Value, error) {
	switch {
	case err != nil:
		return 0, err
	case c != "":
		return in.String(c)
	}
	return quickjs.Bool(true), nil
}

func flag(v quickjs.Value) bool { return v == quickjs.Bool(true) }

// statOp(path): [folder, size, modified ms, mode, inode].
func (f *fileSystem) statOp(in *quickjs.Instance, p string, _ []quickjs.Value) (quickjs.Value, error) {
	n := f.nodes[p]
	if n == nil {
		return in.String(f.through(p))
	}
	mode := n.mode
	if f.access < FilesWrite {
		mode &^= 0o222
	}
	return answerJSON(in, []any{n.folder, len(n.data), float64(n.modified) / float64(time.Millisecond), mode, n.inode})
}

// readOp(path): the content.
func (f *fileSystem) readOp(in *quickjs.Instance, p string, _ []quickjs.Value) (quickjs.Value, error) {
	n := f.nodes[p]
	if n == nil {
		return in.String(f.through(p))
	}
	if n.folder {
		return in.String("EISDIR")
	}
	return in.Bytes(n.data)
}

// writeOp(path, at, bytes).
func (f *fileSystem) writeOp(in *quickjs.Instance, p string, a []quickjs.Value) (quickjs.Value, error) {
	at, ok := a[0].Int()
	if !ok || at < -2 {
		return in.String("EINVAL")
	}
	data, ok, err := in.Buffer(a[1], int(min(f.limits.FileBytes, maxBytes)))
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, f.limits.exceeded(LimitFiles)
	}
	c, err := f.write(p, int(at), data)
	return code(in, c, err)
}

// truncateOp(path, size).
func (f *fileSystem) truncateOp(in *quickjs.Instance, p string, a []quickjs.Value) (quickjs.Value, error) {
	size, ok := a[0].Int()
	if !ok || size < 0 {
		return in.String("EINVAL")
	}
	c, err := f.truncate(p, int(size))
	return code(in, c, err)
}

// mkdirOp(path, recursive).
func (f *fileSystem) mkdirOp(in *quickjs.Instance, p string, a []quickjs.Value) (quickjs.Value, error) {
	c, err := f.makeFolder(p, flag(a[0]))
	return code(in, c, err)
}

// removeOp(path, folder, recursive).
func (f *fileSystem) removeOp(in *quickjs.Instance, p string, a []quickjs.Value) (quickjs.Value, error) {
	return code(in, f.remove(p, flag(a[0]), flag(a[1])), nil)
}

// renameOp(from, to).
func (f *fileSystem) renameOp(in *quickjs.Instance, p string, a []quickjs.Value) (quickjs.Value, error) {
	text, ok := in.Str(a[0], maxPathBytes)
	to, ok2 := cleanPath(text)
	if !ok || !ok2 {
		return in.String("ENAMETOOLONG")
	}
	return code(in, f.rename(p, to), nil)
}

// listOp(path): names, each followed by whether it is a folder.
func (f *fileSystem) listOp(in *quickjs.Instance, p string, _ []quickjs.Value) (quickjs.Value, error) {
	n := f.nodes[p]
	if n == nil {
		return in.String(f.through(p))
	}
	if !n.folder {
		return in.String("ENOTDIR")
	}
	out := []any{}
	for _, name := range f.children(p) {
		child := p + "/" + name
		if p == "/" {
			child = "/" + name
		}
		out = append(out, name, f.nodes[child].folder)
	}
	return answerJSON(in, out)
}

// changeOp(path, mode or -1, modified seconds or -1): what chmod and utimes do.
func (f *fileSystem) changeOp(in *quickjs.Instance, p string, a []quickjs.Value) (quickjs.Value, error) {
	n := f.nodes[p]
	if n == nil {
		return in.String(f.through(p))
	}
	if f.access < FilesWrite {
		return in.String("EROFS")
	}
	if mode, ok := a[0].Int(); ok && mode >= 0 {
		n.mode = mode & 0o7777
	}
	if seconds, ok := a[1].Int(); ok && seconds >= 0 {
		n.modified = time.Duration(seconds) * time.Second
	}
	return quickjs.Bool(true), nil
}
