package assistanttest

import (
	"os"
	"syscall"
)

// Memory is the folder that UseMemory chooses.
const Memory = "/dev/shm"

// UseMemory puts the temporary folders of a test binary into memory if there is room,
// because tests open many stores, and each commit of a store waits for the disk. If TMPDIR
// is set, or in a soak run, the disk is used. Call it from TestMain.
func UseMemory() {
	const room = 1 << 30
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || os.Getenv(soakEnv) != "" || syscall.Statfs(Memory, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return
	}
	if err := os.Setenv("TMPDIR", Memory); err != nil {
		panic(err)
	}
}
