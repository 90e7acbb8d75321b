//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package dotenv

import (
	"context"
	"io/fs"
	"os"
	"sync"
)

// owner is unknown on this system.
type owner struct {
	uid, gid int
	links    uint64
}

func (owner) same(owner) bool { return true }

func ownerOf(fs.FileInfo) owner { return owner{-1, -1, 1} }

func giveTo(*os.File, owner) error { return nil }

func openPlain(path string) (*os.File, error) { return os.Open(path) }

// writable tells whether the file may be written to.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// syncFolder does nothing: folders cannot be synced here.
func syncFolder(string) error { return nil }

// saving serves instead of a lock between processes.
var saving sync.Mutex

// lockFolder waits until no other save of this process is under way.
func lockFolder(context.Context, string) (unlock func(), err error) {
	saving.Lock()
	return saving.Unlock, nil
}
