package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ExportFile is Export into a file that its owner alone can read, through one
// beside it, so that it is there whole and durable or not at all. One that is
// there, or comes to be there meanwhile, is an *ExistsError without force.
func ExportFile(ctx context.Context, s Store, path string, force bool, f Format, o ExportOptions) error {
	switch there, err := os.Lstat(path); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && there.IsDir():
		return fmt.Errorf("%s is a folder; name a file in it", path)
	case err == nil && !force:
		return &ExistsError{path}
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".winnow-export-*")
	if err != nil {
		return namePath(path, err)
	}
	defer os.Remove(file.Name()) // after the rename it is gone
	err = Export(ctx, s, file, f, o)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = namePath(path, link(file.Name(), path, force))
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// namePath says of the file that was asked for what the system said of the one
// beside it.
func namePath(path string, err error) error {
	var one *fs.PathError
	var two *os.LinkError
	switch {
	case errors.As(err, &one):
		return &fs.PathError{Op: "write", Path: path, Err: one.Err}
	case errors.As(err, &two):
		return &fs.PathError{Op: "write", Path: path, Err: two.Err}
	}
	return err
}

// link gives a file its name. Without force no file of that name is touched:
// a link cannot be made over one, where a rename would.
func link(from, to string, force bool) error {
	if force {
		return os.Rename(from, to)
	}
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrExist) {
		return &ExistsError{to}
	}
	if err != nil { // a file system without links
		if _, there := os.Lstat(to); there == nil {
			return &ExistsError{to}
		}
		return os.Rename(from, to)
	}
	return nil
}
