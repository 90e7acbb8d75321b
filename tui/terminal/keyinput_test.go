package terminal

import (
	"os"
	"testing"
	"time"

	"winnow/tui/tuitest"
)

// chunk is bytes that arrive together, a pause after those before.
type chunk struct {
	pause time.Duration
	bytes string
}

// readAll reads chunks as they arrive. Waiting for more takes no time: the next
// chunk is there when its pause is over by then.
func readAll(t *testing.T, chunks []chunk) (got string) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = from.Close(), to.Close() }()
	clock := tuitest.NewClock()
	arrive := func() {
		clock.Advance(chunks[0].pause)
		if _, err := to.WriteString(chunks[0].bytes); err != nil {
			t.Fatal(err)
		}
		chunks = chunks[1:]
	}
	in := NewKeyReader(from)
	in.AcceptText(true)
	in.now = clock.Now
	in.ready = func(_ *os.File, wait time.Duration) bool {
		if len(chunks) == 0 || chunks[0].pause >= wait {
			clock.Advance(wait)
			if len(chunks) > 0 {
				chunks[0].pause -= wait
			}
			return false
		}
		arrive()
		return true
	}
	buf := make([]byte, 4096)
	for len(chunks) > 0 {
		arrive()
		for more := true; more; {
			n, err := in.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			got += string(buf[:n])
			more = readable(from, 0)
		}
	}
	return got
}

func TestAPasteWithoutItsEndEndsByItself(t *testing.T) {
	const start, end = "\x1b[200~", "\x1b[201~"
	for name, c := range map[string]struct {
		chunks []chunk
		want   string
	}{
		"no key after it":     {[]chunk{{0, start + "text"}}, start + "text" + end},
		"a key after it":      {[]chunk{{0, start + "text"}, {3 * time.Second, "\x03"}}, start + "text" + end + "\x03"},
		"a start in parts":    {[]chunk{{0, "\x1b[2"}, {time.Millisecond, "00~text"}, {3 * time.Second, "\x11"}}, start + "text" + end + "\x11"},
		"a slow paste":        {[]chunk{{0, start + "te"}, {time.Second, "xt"}, {time.Second, end}, {time.Second, "a"}}, start + "text" + end + "a"},
		"an end in two parts": {[]chunk{{0, start + "text\x1b[20"}, {time.Second, "1~"}, {time.Second, "a"}}, start + "text" + end + "a"},
	} {
		if got := readAll(t, c.chunks); got != c.want {
			t.Errorf("%s: read %q, want %q", name, got, c.want)
		}
	}
}

// What a hand types is never a paste, however late it is drawn: the times are
// those at which bytes arrive.
func TestTextThatNoHandHasTypedIsAPaste(t *testing.T) {
	const start, end = "\x1b[200~", "\x1b[201~"
	quick, slow := time.Millisecond, 30*time.Millisecond
	for name, c := range map[string]struct {
		chunks []chunk
		want   string
	}{
		"typed":               {[]chunk{{0, "h"}, {slow, "i"}, {slow, "\n"}}, "hi\n"},
		"together":            {[]chunk{{0, "one\ntwo\n"}}, start + "one\ntwo\n" + end},
		"in parts":            {[]chunk{{0, "one\n"}, {quick, "two"}, {quick, "\n"}, {slow, "x"}}, start + "one\ntwo\n" + end + "x"},
		"after its first key": {[]chunk{{0, "o"}, {quick, "ne\n"}, {slow, "\n"}}, "o" + start + "ne\n" + end + "\n"},
		"a line end first":    {[]chunk{{0, "\n"}, {quick, "one"}}, start + "\none" + end},
		"wide":                {[]chunk{{0, "漢"}, {slow, "字"}}, "漢字"},
		"other keys":          {[]chunk{{0, "\x1b[A\x1b[A"}, {quick, "\x03"}}, "\x1b[A\x1b[A\x03"},
		"a marked one before": {[]chunk{{0, start + "a" + end}, {quick, "hi\n"}}, start + "a" + end + "hi\n"},
	} {
		if got := readAll(t, c.chunks); got != c.want {
			t.Errorf("%s: read %q, want %q", name, got, c.want)
		}
	}
}
