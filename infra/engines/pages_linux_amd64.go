package engines

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// pages are the memory pages of a fork that a job uses. Without them, each first use of a page is a fault. To map all
// of them at once takes less time than those faults.
type pages struct {
	written, read []unix.RemoteIovec // one byte of each page
	values        []byte             // the bytes of those that are written, which they keep
}

// vector is the most that the kernel reads or writes in one call.
const vector = 1024

// give maps the pages of a process that stands where the template does. No pages are none to map.
func (p *pages) give(pid int) error {
	if p == nil {
		return nil
	}
	for at := 0; at < len(p.written); at += vector {
		part := p.written[at:min(at+vector, len(p.written))]
		n, err := unix.ProcessVMWritev(pid, local(p.values[at:at+len(part)]), part, 0)
		if err != nil || n != len(part) {
			return fmt.Errorf("copy %d of %d pages: %w", n, len(part), cmp.Or(err, error(unix.EFAULT)))
		}
	}
	return look(pid, p.read, make([]byte, len(p.read)))
}

// look reads one byte of each page.
func look(pid int, at []unix.RemoteIovec, into []byte) error {
	for len(at) > 0 {
		part := at[:min(vector, len(at))]
		n, err := unix.ProcessVMReadv(pid, local(into[:len(part)]), part, 0)
		if err != nil || n != len(part) {
			return fmt.Errorf("read %d of %d pages: %w", n, len(part), cmp.Or(err, error(unix.EFAULT)))
		}
		at, into = at[len(part):], into[len(part):]
	}
	return nil
}

func local(b []byte) []unix.Iovec {
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	return []unix.Iovec{v}
}

// What is known of a page.
const (
	pageMapped   = 1 << iota // there is memory for it
	pageOwn                  // no other process has that memory
	pageWritable             // the process may write to it
)

// pagesOf returns the pages that a process may read, by address.
func pagesOf(pid int) (map[uint64]byte, error) {
	areas, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer areas.Close()
	pagemap, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", pid))
	if err != nil {
		return nil, err
	}
	defer pagemap.Close()
	all := map[uint64]byte{}
	size := uint64(os.Getpagesize())
	lines := bufio.NewScanner(areas)
	for lines.Scan() {
		var from, to uint64
		var allowed string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &allowed); err != nil {
			return nil, fmt.Errorf("read a map of memory: %w", err)
		}
		if allowed[0] != 'r' || strings.Contains(lines.Text(), "[v") { // vdso and vvar
			continue
		}
		entries := make([]byte, (to-from)/size*8)
		if _, err := pagemap.ReadAt(entries, int64(from/size*8)); err != nil {
			return nil, fmt.Errorf("read a map of pages: %w", err)
		}
		for ; len(entries) > 0; entries, from = entries[8:], from+size {
			entry, known := binary.LittleEndian.Uint64(entries), byte(0)
			if entry>>63 != 0 {
				known |= pageMapped
			}
			if entry>>56&1 != 0 && entry>>61&1 == 0 {
				known |= pageOwn
			}
			if allowed[1] == 'w' {
				known |= pageWritable
			}
			all[from] = known
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read a map of memory: %w", err)
	}
	return all, nil
}

// around is how many bytes the kernel maps around a page of a file.
const around = 64 << 10

// used returns the pages that a process has used between two looks at them.
func used(before, after map[uint64]byte) *pages {
	p := &pages{}
	group := ^uint64(0) // the last in which a page is only read
	for _, at := range slices.Sorted(maps.Keys(before)) {
		was, page := before[at], unix.RemoteIovec{Base: uintptr(at), Len: 1}
		switch now := after[at]; {
		case now&pageMapped == 0:
		case now&pageOwn != 0 && was&pageOwn == 0 && was&now&pageWritable != 0:
			p.written = append(p.written, page)
		case was&pageMapped == 0 && at/around != group:
			group = at / around
			p.read = append(p.read, page)
		}
	}
	return p
}

// rehearse makes a fork do a job, and so learns which pages jobs use. The fork runs no guest.
func (t *template) rehearse(ctx context.Context, cfg Config) error {
	if len(cfg.Rehearsal) == 0 {
		return nil
	}
	p, child, err := t.stand(true)
	if err != nil {
		return err
	}
	defer p.end()
	before, err := pagesOf(p.PID)
	if err != nil {
		return err
	}
	if err := child.release(); err != nil {
		return err
	}
	if err := converse(ctx, p.Conn, cfg.Rehearsal, cfg.StartTimeout); err != nil {
		return fmt.Errorf("rehearse a job: %w", err)
	}
	after, err := pagesOf(p.PID)
	if err != nil {
		return err
	}
	pages := used(before, after)
	pages.values = make([]byte, len(pages.written))
	if err := look(t.thread.id, pages.written, pages.values); err != nil {
		return err
	}
	t.pages = pages
	return nil
}

// weigh returns how much memory the template has, and how much of its own each process has that waits for its job.
func (t *template) weigh() (whole, each int64, err error) {
	if whole, err = memory(t.thread.id, "Pss"); err != nil {
		return 0, 0, err
	}
	p, _, err := t.stand(true)
	if err != nil {
		return 0, 0, err
	}
	defer p.end()
	each, err = memory(p.PID, "Private_Clean", "Private_Dirty")
	return whole, each, err
}

// memory returns the sum of some counters of a process's memory in bytes.
func memory(pid int, names ...string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of a process: %w", err)
	}
	sum := int64(0)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if !slices.Contains(names, name) {
			continue
		}
		var kilobytes int64
		if _, err := fmt.Sscan(value, &kilobytes); err != nil {
			return 0, fmt.Errorf("read the memory of a process: %w", err)
		}
		sum += kilobytes << 10
	}
	return sum, nil
}
