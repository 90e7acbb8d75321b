package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errSharing is ERROR_SHARING_VIOLATION: the file is open elsewhere in a way
// that does not allow this way of opening it.
const errSharing = syscall.Errno(32)

// openLock opens the file so that others may read it and nobody else may open
// it for writing. The system closes it when the process ends.
func (p place) openLock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: lock journal: %w", err)
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE,
		syscall.FILE_SHARE_READ, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		return nil, errLocked
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: lock journal: %w", err)
	}
	return os.NewFile(uintptr(handle), path), nil
}
