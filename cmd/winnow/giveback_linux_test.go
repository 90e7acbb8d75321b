package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Only pages that are still those of the file may be forgotten.
func TestUntouchedLeavesWhatWasWritten(t *testing.T) {
	const smaps = `00400000-01000000 r-xp 00000000 fe:00 12 /opt/my winnow
Rss:                 800 kB
Anonymous:             0 kB
01000000-02000000 r--p 00c00000 fe:00 12 /opt/my winnow
Anonymous:             4 kB
02000000-03000000 rw-p 01c00000 fe:00 12 /opt/my winnow
Anonymous:             0 kB
03000000-04000000 r--p 01c00000 fe:00 13 /lib/other
Anonymous:             0 kB
04000000-05000000 r--p 00000000 00:00 0
Anonymous:             0 kB
05000000-06000000 r--p 02c00000 fe:00 12 /opt/my winnow
Anonymous:             0 kB
`
	want := []span{{0x400000, 0x1000000}, {0x5000000, 0x6000000}}
	if got := untouched(strings.NewReader(smaps), "/opt/my winnow"); !slices.Equal(got, want) {
		t.Errorf("untouched = %x, want %x", got, want)
	}
}

// The program goes on after it has given its pages back.
func TestGiveBackHarmsNothing(t *testing.T) {
	before, err := os.ReadFile("/proc/self/cmdline")
	if err != nil {
		t.Skip("no /proc")
	}
	giveBack()
	after, err := os.ReadFile("/proc/self/cmdline")
	if err != nil || string(after) != string(before) {
		t.Errorf("%q became %q, %v", before, after, err)
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if len(untouched(maps, exe)) == 0 {
		t.Error("nothing of the program's own file was found")
	}
}
