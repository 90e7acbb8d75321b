package assistanttest

import (
	"os"
	"syscall"
)

// UseMemory puts the temporary folders of a test binary into memory if there is room,
// because tests open many stores, and each commit of a store waits for the disk. If TMPDIR
// is set, or in a soak run, the disk is used. Call it from TestMain.
func UseMemory() {
	const memory, room = "/dev/shm", 1 << 30
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || os.Getenv(soakEnv) != "" || syscall.Statfs(memory, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return
	}
	if err := os.Setenv("TMPDIR", memory); err != nil {
		panic(err)
	}
}
