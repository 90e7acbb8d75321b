package main

import (
	"bufio"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// dontNeed is MADV_DONTNEED: the kernel may forget the pages, and reads them
// from the file again when they are touched.
const dontNeed = 4

// giveBack returns to the system what a start needed and nothing after it does:
// free memory of the heap, and those pages of the program's own file that hold
// the code and tables of its initialisation. What is needed again comes back
// from the system's cache.
func giveBack() {
	debug.FreeOSMemory()
	exe, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, s := range untouched(maps, exe) {
		// It is an advice: if it is not taken, nothing is lost.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, s.from, s.to-s.from, dontNeed)
	}
}

// span is a range of addresses.
type span struct{ from, to uintptr }

// untouched lists the ranges of smaps (see proc_pid_smaps(5)) that map the file
// at path, cannot be written, and hold no page that differs from it: a linker
// may have written into one before it closed it.
func untouched(smaps io.Reader, path string) []span {
	var list []span
	var at span
	of := false // at is of the file and cannot be written
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0:
		case len(fields) >= 6 && !strings.HasSuffix(fields[0], ":"):
			from, to, _ := strings.Cut(fields[0], "-")
			a, errA := strconv.ParseUint(from, 16, strconv.IntSize)
			b, errB := strconv.ParseUint(to, 16, strconv.IntSize)
			at = span{uintptr(a), uintptr(b)}
			of = errA == nil && errB == nil && !strings.Contains(fields[1], "w") && strings.Join(fields[5:], " ") == path
		case of && fields[0] == "Anonymous:" && fields[1] == "0":
			list = append(list, at)
		}
	}
	return list
}
