//go:build unix

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// maxCacheFiles bounds the files of a cache folder.
const maxCacheFiles = 100_000

// CheckCache returns an error if the files of a cache folder must not run. They are machine code, so only this user,
// root and the owner of the program may be able to write them. The same applies to the folder and to each folder
// above it, of which one with the sticky bit may be writable for everybody. A folder that does not exist is fine if
// its parents are. The error names the path and what to do.
func CheckCache(dir, executable string) error {
	if dir == "" {
		return nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	trusted := []uint32{0, uint32(os.Geteuid())}
	if info, err := os.Stat(executable); err == nil {
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			trusted = append(trusted, s.Uid)
		}
	}
	where, exists := dir, true
	for {
		if where, err = filepath.EvalSymlinks(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if _, there := os.Lstat(dir); there == nil {
			return fmt.Errorf("cache folder: %s is a broken link; remove it", dir)
		}
		dir, exists = filepath.Dir(dir), false
	}
	if err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	c := cacheCheck{trusted: trusted}
	if exists {
		if err := filepath.WalkDir(where, c.file); err != nil {
			return err
		}
	} else if err := c.above(where); err != nil {
		return err
	}
	for _, at := range []string{where, dir} { // who can change a link on the way decides where it leads
		for at != filepath.Dir(at) {
			at = filepath.Dir(at)
			if err := c.above(at); err != nil {
				return err
			}
		}
	}
	return nil
}

type cacheCheck struct {
	trusted []uint32
	files   int
}

// file checks one entry of the cache.
func (c *cacheCheck) file(path string, entry fs.DirEntry, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has finished writing it
	}
	if err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	if c.files++; c.files > maxCacheFiles {
		return fmt.Errorf("cache folder: more than %d files are below it; set AIRLOCK_CACHE_DIR to a folder of its own",
			maxCacheFiles)
	}
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("cache folder: %s is neither a file nor a folder; remove it", path)
	}
	return c.judge(path, info, false)
}

// above checks a folder above the cache.
func (c *cacheCheck) above(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	return c.judge(path, info, true)
}

func (c *cacheCheck) judge(path string, info fs.FileInfo, above bool) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !slices.Contains(c.trusted, s.Uid) {
		return fmt.Errorf("cache folder: %s belongs to another user, who could have this process run any code; "+
			"give it to the user that runs airlock (chown), or set AIRLOCK_CACHE_DIR to a folder of that user's own", path)
	}
	if info.Mode()&0o022 != 0 && !(above && info.Mode()&fs.ModeSticky != 0) {
		return fmt.Errorf("cache folder: %s can be written by others, who could have this process run any code; "+
			"take that away (chmod go-w), or set AIRLOCK_CACHE_DIR to another folder", path)
	}
	return nil
}
