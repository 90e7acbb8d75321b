//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package checkpoint

import (
	"fmt"
	"os"
	"strings"
)

// openLock opens the file for exclusive use, which Plan 9 enforces. The other
// systems here have no lock that the standard library could take and that
// ends with its process; a lock that outlives a dead process would be worse.
func (p place) openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode|os.ModeExclusive)
	if err != nil && strings.Contains(err.Error(), "exclusive") {
		return nil, errLocked
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: lock journal: %w", err)
	}
	return f, nil
}
