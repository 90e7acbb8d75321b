package main

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"
)

// TestReleaseMemoryAfterStart checks that after the start, file mappings, mainly the executable, occupy less than
// half of the peak memory (two thirds without the release), and that the program still accepts keys.
func TestReleaseMemoryAfterStart(t *testing.T) {
	p := startOn(t, "GOGC= exec winnow")
	p.wait(ready)
	pid := p.cmd.Process.Pid
	for late := time.After(patience); ; {
		// The kernel records the peak, so it does not matter when the test reads it.
		// The executable may be on a file system in memory, see assistanttest.UseMemory.
		now, peak := inMemory(t, pid, "RssFile")+inMemory(t, pid, "RssShmem"), inMemory(t, pid, "VmHWM")
		if now < peak/2 {
			break
		}
		select {
		case <-time.Tick(time.Millisecond):
		case <-late:
			t.Fatalf("%d kB of files are resident of a peak of %d kB: want less than half", now, peak)
		}
	}
	p.keys("ß") // nothing else draws this character
	p.wait("ß")
}

// inMemory returns a value from /proc/PID/status in kB.
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
