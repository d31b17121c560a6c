package lockdown

import (
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// scopesABI is the first version of Landlock with scopes.
const scopesABI = 6

// The rights on the folders of Config. go-landlock's RODirs and RWDirs would also allow execution.
const (
	reading = ll.AccessFSReadFile | ll.AccessFSReadDir
	writing = reading | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSMakeReg | ll.AccessFSMakeDir |
		ll.AccessFSRemoveFile | ll.AccessFSRemoveDir
)

// restrict builds the walls of Landlock that the kernel supports. An ABI of 0 means none.
func restrict(cfg Config, abi int) error {
	if abi < 1 {
		return nil
	}
	write := landlock.AccessFSSet(writing)
	if abi >= 2 {
		write |= ll.AccessFSRefer // moving a file from one folder to another; older kernels refuse that anyway
	}
	rules := []landlock.Rule{
		landlock.PathAccess(reading, cfg.Read...),
		landlock.PathAccess(write, cfg.Write...),
	}
	all := landlock.V11
	if cfg.Network {
		all.HandledAccessNet = 0
		rules = append(rules,
			landlock.PathAccess(ll.AccessFSReadFile, resolverFiles()...).IgnoreIfMissing(),
			landlock.PathAccess(reading, certificateFolders()...).IgnoreIfMissing(),
		)
	} else {
		for _, port := range cfg.Ports {
			rules = append(rules, landlock.ConnectTCP(port))
		}
	}
	// One ruleset for everything: another would forbid moving files between folders.
	return all.BestEffort().Restrict(rules...)
}

// resolverFiles returns the files that package net reads to resolve names.
func resolverFiles() []string {
	return []string{"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/services", "/etc/protocols"}
}

// certificateFolders returns the folders where crypto/x509 looks for certificates on known distributions, and their
// link targets.
func certificateFolders() []string {
	return []string{
		"/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/system/etc/security/cacerts",
		"/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/etc/ca-certificates", "/run/systemd/resolve",
	}
}
