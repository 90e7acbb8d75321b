package main

import (
	"slices"
	"strings"
	"testing"
)

// Only pages that are unchanged from the file may be unmapped.
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
