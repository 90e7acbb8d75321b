package tui

import (
	"strings"
	"testing"

	"winnow/tui/tuitest"
)

// A terminal shows what stands between the sequences of a link; a broken one
// would hide the address and everything after it.
func TestAddressesAreSeen(t *testing.T) {
	r := start(t, 80, 24, say("[docs](https://example.com/a) and https://b.example.org/x plus <https://c.example.com> end\n\n| t |\n|---|\n| https://d.example.com |\n"))
	r.Type("links", tuitest.Send)
	r.Wait("docs")
	r.WaitGone("working")
	frame := strings.Join(strings.Fields(strings.NewReplacer("│", "", "|", "").Replace(r.Frame())), " ")
	for _, want := range []string{"docs https://example.com/a and", "https://b.example.org/x plus", "https://c.example.com end", "https://d.example.com"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not to be seen in\n%s", want, r.Frame())
		}
	}
}
