//go:build !linux

package dotenv

import "os"

// exchange always fails, because this system cannot exchange names. A save therefore compares right before it renames.
func exchange(string, string) error { return errNoExchange }

// setLease does nothing, because this system has no leases.
func setLease(*os.File, bool) (leased, busy bool) { return false, false }

// Mounted returns false, because this system does not report whether a file is mounted on its own.
func Mounted(string) bool { return false }

func leaseBroken(*os.File) bool { return false }

// readXattrs returns nil: extended attributes are not preserved on this system.
func readXattrs(*os.File) (map[string][]byte, error) { return nil, nil }

func writeXattrs(*os.File, map[string][]byte) error { return nil }
