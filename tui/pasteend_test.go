package tui

import (
	"os"
	"testing"
	"time"

	"winnow/tui/tuitest"
)

func TestAPasteWithoutItsEndEndsAfterASilence(t *testing.T) {
	for name, c := range map[string]struct {
		reads []string
		pause time.Duration // before each read
		want  string
	}{
		"the marker was lost":     {[]string{"\x1b[200~text", "\x03"}, 2 * time.Second, "\x1b[200~text\x1b[201~\x03"},
		"the start came in parts": {[]string{"a\x1b[2", "00~text", "\x03", "\x11"}, 2 * time.Second, "a\x1b[200~text\x1b[201~\x03\x11"},
		"a slow paste":            {[]string{"\x1b[200~te", "xt", "\x1b[201~", "a"}, time.Second, "\x1b[200~text\x1b[201~a"},
		"a whole paste":           {[]string{"\x1b[200~text\x1b[20", "1~", "a"}, time.Second, "\x1b[200~text\x1b[201~a"},
		"keys":                    {[]string{"a", "b"}, time.Hour, "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = from.Close(), to.Close() }()
			clock := tuitest.NewClock()
			in := NewInput(from, clock.Now)
			got := ""
			for _, bytes := range c.reads {
				clock.Advance(c.pause)
				if _, err := to.WriteString(bytes); err != nil {
					t.Fatal(err)
				}
				buf := make([]byte, 4096)
				n, err := in.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				got += string(buf[:n])
			}
			if got != c.want {
				t.Errorf("read %q, want %q", got, c.want)
			}
		})
	}
}
