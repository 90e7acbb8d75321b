//go:build !unix

package doctor

import "os"

// inBackground is never true: there is no job control on this system.
func inBackground(*os.File) bool { return false }
