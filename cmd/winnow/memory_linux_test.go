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

// TestReleaseMemoryAfterStart: once the start is over, less than half of what it
// has mapped of the executable is resident, and the program still answers keys.
func TestReleaseMemoryAfterStart(t *testing.T) {
	p := startOn(t, "exec winnow")
	p.wait(ready)
	most := 0
	for late := time.After(patience); ; {
		now := residentFile(t, p.cmd.Process.Pid)
		if most = max(most, now); now < most/2 {
			break
		}
		select {
		case <-time.Tick(time.Millisecond):
		case <-late:
			t.Fatalf("%d kB of files are resident, %d kB were during the start: want less than half", now, most)
		}
	}
	p.keys("ß") // drawn by nothing else
	p.wait("ß")
}

// residentFile is how much of mapped files a process has in memory, in kB.
func residentFile(t *testing.T, pid int) (kB int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(status, []byte("\nRssFile:"))
	if n, err := fmt.Sscanf(string(after), "%d kB", &kB); n != 1 {
		t.Fatalf("no RssFile in %q: %v", status, err)
	}
	return kB
}
