package assistanttest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"winnow/assistant/safetext"
)

// foreignParts are what ForeignNames makes names of: letters and their look-alikes, controls, hidden characters, the
// quotes of safetext.Visible, what it writes between them, and bytes that are not UTF-8.
var foreignParts = []string{
	"a", "b", "gpt", "\u043e", "o", "‹", "›", "‹U+202E›", "\u202e", "\u2066", "\u200b", "\x1b[31m", "\x1b", "\u009b", "\a", "\u00a0", "\ufe0f", "\u0301", "é", "\xff", "\ufffd", "日本", "+", "-", "*",
}

// ForeignNames returns n different random names, as another program may choose them to deceive a user. Many differ only
// in what cannot be seen, and some contain other names as safetext.Visible shows them.
func ForeignNames(n int, seed uint64) []string {
	random := rand.New(rand.NewPCG(seed, 0))
	var names []string
	seen := map[string]bool{"": true}
	for len(names) < n {
		var b strings.Builder
		for range 1 + random.IntN(5) {
			b.WriteString(foreignParts[random.IntN(len(foreignParts))])
		}
		name := b.String()
		for _, name := range []string{name, string(safetext.Visible(name)), string(safetext.Clean(name))} {
			if !seen[name] && len(names) < n {
				names, seen[name] = append(names, name), true
			}
		}
	}
	return names
}

// CheckConfirmation checks that what a user confirms hides nothing. confirmed returns the text that is shown for a
// foreign name, or "" if the name is refused. Each text must contain its name as safetext.Visible shows it, and texts of
// different names must differ. At least one name must be accepted.
func CheckConfirmation(t testing.TB, confirmed func(name string) string) {
	t.Helper()
	seed := rand.Uint64()
	shown := map[string]string{}
	for _, name := range ForeignNames(60, seed) {
		text := confirmed(name)
		if text == "" {
			continue
		}
		if other, same := shown[text]; same {
			t.Errorf("seed %d: %q and %q are both shown as %q", seed, other, name, text)
		}
		if shown[text] = name; !strings.Contains(text, string(safetext.Visible(name))) {
			t.Errorf("seed %d: %q is shown in %q, want %s", seed, name, text, safetext.Visible(name))
		}
	}
	if len(shown) == 0 {
		t.Errorf("seed %d: every name is refused", seed)
	}
}
