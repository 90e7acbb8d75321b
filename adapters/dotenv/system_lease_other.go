//go:build !linux

package dotenv

import "os"

// lease stands for a file under comparison; this system has no leases.
type lease struct {
	f       *os.File
	refused bool
}

func takeLease(f *os.File) *lease { return &lease{f: f} }

func (l *lease) holds() bool { return true }

func (l *lease) release() { l.f.Close() }
