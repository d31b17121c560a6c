package filerecords

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// maxOpenDays bounds the open descriptors: today, yesterday around midnight, and stragglers.
const maxOpenDays = 4

// day is one day's folder of objects and its file of lines.
type day struct {
	name string
	objs int
	log  appendFile
}

func (d *day) shut() {
	shut(d.objs)
	d.log.shut()
}

// day returns an open day, opening it if necessary, also after retention has removed it.
func (s *Store) day(name string) (*day, error) {
	if d := s.days[name]; d != nil {
		return d, nil
	}
	if len(s.days) >= maxOpenDays {
		oldest := name
		for n := range s.days {
			oldest = min(oldest, n)
		}
		if oldest != name {
			s.forget(oldest)
		} else {
			for n := range s.days {
				s.forget(n)
				break
			}
		}
	}
	if err := s.disk.mkdir(s.objs, dayPrefix+name); err != nil {
		return nil, err
	}
	objs, err := open(s.objs, dayPrefix+name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	log, err := s.openAppend(s.root, logName(name))
	if err != nil {
		shut(objs)
		return nil, err
	}
	d := &day{name: name, objs: objs, log: log}
	if err := errors.Join(s.flush(s.objs, objectsDir), s.flush(s.root, ".")); err != nil {
		d.shut()
		return nil, err
	}
	s.days[name] = d
	return d, nil
}

func (s *Store) forget(name string) {
	if d := s.days[name]; d != nil {
		d.shut()
		delete(s.days, name)
	}
}

// errGone means that the file was removed while it was open.
var errGone = errors.New("the file was removed by retention")

// appendFile is a file of lines that several processes append to.
type appendFile struct {
	name string
	fd   int
	end  int64 // a length at which the file ended with a whole line; it was reached, and may have been passed since
}

func (f *appendFile) shut() { shut(f.fd) }

func (t *tree) openAppend(at int, name string) (appendFile, error) {
	fd, err := t.disk.create(at, name, unix.O_RDWR|unix.O_APPEND)
	if err != nil {
		return appendFile{}, err
	}
	f := appendFile{name: name, fd: fd}
	st, err := stat(fd, name)
	if err == nil {
		f.end, err = lastLineEnd(fd, name, st.Size)
	}
	if err != nil {
		shut(fd)
		return appendFile{}, err
	}
	return f, nil
}

// appendLine appends whole lines under the file's lock. It first moves half a line at the end to the torn folder.
// After an error the file is as it was; if even that fails, the next append finds the half line.
func (s *Store) appendLine(f *appendFile, lines []byte) (at int64, err error) {
	if err := s.disk.lock(f.fd, f.name, unix.LOCK_EX); err != nil {
		return 0, err
	}
	defer unlock(f.fd)
	return s.appendLocked(f, lines)
}

func (s *Store) appendLocked(f *appendFile, lines []byte) (at int64, err error) {
	st, err := stat(f.fd, f.name)
	if err != nil {
		return 0, err
	}
	if st.Nlink == 0 {
		return 0, errGone
	}
	end := st.Size
	if end != f.end {
		if end, err = s.mend(f, end); err != nil {
			return 0, err
		}
	}
	if err := s.disk.write(f.fd, f.name, lines, -1); err != nil {
		return 0, errors.Join(err, s.disk.truncate(f.fd, f.name, end))
	}
	f.end = end + int64(len(lines))
	return end, nil
}

// mend returns where the last whole line of f ends, and moves what follows it to the torn folder.
func (s *Store) mend(f *appendFile, size int64) (int64, error) {
	end, err := lastLineEnd(f.fd, f.name, size)
	if err != nil || end == size {
		return end, err
	}
	half := make([]byte, size-end)
	if err := readAt(f.fd, f.name, half, end); err != nil {
		return 0, err
	}
	if err := s.disk.mkdir(s.root, tornDir); err != nil {
		return 0, err
	}
	aside := fmt.Sprintf("%s/%s.%d.%s.%d", tornDir, f.name, end, s.writer, s.rev)
	fd, err := s.disk.create(s.root, aside, unix.O_WRONLY|unix.O_TRUNC)
	if err != nil {
		return 0, err
	}
	defer shut(fd)
	if err := s.disk.write(fd, aside, half, -1); err != nil {
		return 0, err
	}
	if err := s.disk.truncate(f.fd, f.name, end); err != nil {
		return 0, err
	}
	s.cfg.Log.Warn("set half a line aside", "file", f.name, "offset", end, "bytes", len(half), "to", aside)
	return end, nil
}

// longestTail bounds the unfinished line at the end of a file: what a power cut left there. Nobody waits for more to be
// read.
const longestTail = 1 << 30

// lastLineEnd returns the offset after the last \n before size.
func lastLineEnd(fd int, name string, size int64) (int64, error) {
	buf, least := make([]byte, 1), size-longestTail
	for chunk := int64(1); size > 0; chunk = min(64<<10, chunk*256) {
		n := min(chunk, size)
		if int64(cap(buf)) < n {
			buf = make([]byte, n)
		}
		if err := readAt(fd, name, buf[:n], size-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return size - n + int64(i) + 1, nil
		}
		if size -= n; size < least {
			return 0, fmt.Errorf("read %s: it ends with more than %d bytes that are no line", name, longestTail)
		}
	}
	return 0, nil
}
