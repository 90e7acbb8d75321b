//go:build !unix

package doctor

import "os"

// inBackground returns false, because this system has no job control.
func inBackground(*os.File) bool { return false }
