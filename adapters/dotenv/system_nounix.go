//go:build !unix

package dotenv

import (
	"io/fs"
	"os"
)

// owner is empty, because the owner of a file cannot be determined on this system.
type owner struct {
	uid, gid int
	links    uint64
}

func ownerOf(fs.FileInfo) owner { return owner{-1, -1, 1} }

func setOwner(*os.File, owner) error { return nil }

func openRegular(path string) (*os.File, error) { return os.Open(path) }

// checkWritable returns an error if the file cannot be opened for writing.
func checkWritable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// checkFolder always returns nil: on this system, only creating a file shows whether it is allowed.
func checkFolder(string) error { return nil }

// locksTarget is false, because a lock on a file would keep other programs from reading it.
const locksTarget = false
