//go:build unix

package dotenv

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// owner contains the owner of a file; links is the number of its hard links.
type owner struct {
	uid, gid int
	links    uint64
}

func ownerOf(info fs.FileInfo) owner {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{-1, -1, 1}
	}
	return owner{int(st.Uid), int(st.Gid), uint64(st.Nlink)}
}

// setOwner sets the owner and group of f.
func setOwner(f *os.File, o owner) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if now := ownerOf(info); now.uid == o.uid && now.gid == o.gid {
		return nil
	}
	return f.Chown(o.uid, o.gid)
}

// openRegular opens a file for reading without following a symbolic link or waiting for the other end of a pipe.
func openRegular(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
}

// checkWritable returns an error if this process may not write to the file. A rename would ignore that permission.
func checkWritable(path string) error { return unix.Access(path, unix.W_OK) }

// checkFolder returns an error if this process may not create files in a folder.
func checkFolder(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// locksTarget is true, because other programs can still read a locked file.
const locksTarget = true
