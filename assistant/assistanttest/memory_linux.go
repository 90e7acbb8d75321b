package assistanttest

import (
	"os"
	"syscall"
)

// UseMemory puts the temporary folders of a test binary into memory, where there is room:
// tests open many stores, and each commit of a store waits for the disk. TMPDIR and a
// soak run choose the disk. TestMain calls it.
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
