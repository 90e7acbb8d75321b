//go:build !linux

package dotenv

import "os"

// exchange does not exist here: a save compares right before it renames.
func exchange(string, string) error { return errNoExchange }

// setLease does nothing: this system has no leases.
func setLease(*os.File, bool) (leased, busy bool) { return false, false }

// Mounted is false: it is not known on this system.
func Mounted(string) bool { return false }

func leaseBroken(*os.File) bool { return false }

// readXattrs reads none: extended attributes are not preserved on this system.
func readXattrs(*os.File) (map[string][]byte, error) { return nil, nil }

func writeXattrs(*os.File, map[string][]byte) error { return nil }
