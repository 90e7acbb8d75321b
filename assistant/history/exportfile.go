package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// ExportFile is Export into a file, through one beside it, so that the file is
// there whole or not at all. One that is there is an error without force.
func (s *Store) ExportFile(ctx context.Context, path string, force bool, f Format, o ExportOptions) error {
	if _, err := os.Stat(path); err == nil && !force {
		return fmt.Errorf("%s is there already; --force overwrites it", path)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".winnow-export-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // after the rename it is gone
	err = s.Export(ctx, file, f, o)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
