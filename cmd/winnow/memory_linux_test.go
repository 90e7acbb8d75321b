package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Only pages that are still those of the file may be unmapped.
func TestCleanMappings(t *testing.T) {
	const smaps = `00400000-01000000 r-xp 00000000 fe:00 12                 /opt/my winnow
Rss:                 800 kB
Anonymous:             0 kB
01000000-02000000 r--p 00c00000 fe:00 12                 /opt/my winnow
Anonymous:             4 kB
02000000-03000000 rw-p 01c00000 fe:00 12                 /opt/my winnow
Anonymous:             0 kB
03000000-04000000 r--p 01c00000 fe:00 13                 /lib/other
Anonymous:             0 kB
04000000-05000000 r--p 00000000 00:00 0
Anonymous:             0 kB
7f0005000000-7f0006000000 r--p 02c00000 fe:00 12                 /opt/my winnow
Rss:                   0 kB
Anonymous:             0 kB
AnonHugePages:         0 kB
`
	want := []mapping{{0x400000, 0x1000000}, {0x7f0005000000, 0x7f0006000000}}
	if got := cleanMappings(strings.NewReader(smaps), "/opt/my winnow"); !slices.Equal(got, want) {
		t.Errorf("cleanMappings = %x, want %x", got, want)
	}
}

// TestReleaseMemoryAfterStart: once the start is over, files, the executable above all,
// make up less than half of the memory that the start had (two thirds without the
// release), and the program still answers keys.
func TestReleaseMemoryAfterStart(t *testing.T) {
	p := startOn(t, "exec winnow")
	p.wait(ready)
	for late := time.After(patience); ; {
		// The kernel knows the peak: it does not matter when the test looks.
		now, peak := inMemory(t, p.cmd.Process.Pid, "RssFile"), inMemory(t, p.cmd.Process.Pid, "VmHWM")
		if now < peak/2 {
			break
		}
		select {
		case <-time.Tick(time.Millisecond):
		case <-late:
			t.Fatalf("%d kB of files are resident of a peak of %d kB: want less than half", now, peak)
		}
	}
	p.keys("ß") // drawn by nothing else
	p.wait("ß")
}

// inMemory is a line of /proc/PID/status, in kB.
func inMemory(t *testing.T, pid int, line string) (kB int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(status, []byte("\n"+line+":"))
	if n, err := fmt.Sscanf(string(after), "%d kB", &kB); n != 1 {
		t.Fatalf("no %s in %q: %v", line, status, err)
	}
	return kB
}
