package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// madvDontNeed is MADV_DONTNEED: the kernel unmaps the pages and maps them again from the page cache on the next
// access.
const madvDontNeed = 4

// releaseMemory gives back to the system the memory that was needed only at the start: free heap memory, and the
// pages of the executable, most of which hold code and tables that only package initialization uses.
func releaseMemory() {
	debug.FreeOSMemory()
	exe, err := os.Executable()
	if err != nil {
		return
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer smaps.Close()
	for _, m := range cleanMappings(smaps, exe) {
		// If this fails, the pages merely stay resident.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, madvDontNeed)
	}
}

// mapping is a range of addresses.
type mapping struct{ from, to uintptr }

// cleanMappings lists the mappings of the file at path in smaps (see proc_pid_smaps(5)) that are not writable and
// have no page that differs from the file. The dynamic linker writes to some mappings before it protects them.
func cleanMappings(smaps io.Reader, path string) (clean []mapping) {
	var m mapping
	candidate := false // m maps the file and is not writable
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		var next mapping
		var mode, offset, device, inode string
		switch n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %s %s %s", &next.from, &next.to, &mode, &offset, &device, &inode); {
		case n == 6:
			m = next
			candidate = !strings.Contains(mode, "w") && strings.HasSuffix(lines.Text(), " "+path)
		case candidate && strings.HasPrefix(lines.Text(), "Anonymous:") && strings.HasSuffix(lines.Text(), " 0 kB"):
			clean = append(clean, m)
		}
	}
	return clean
}
