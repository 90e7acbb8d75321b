package offline

import (
	"strings"
	"testing"
)

// read writes the tokens of a text after the synonyms are replaced: quoted text in
// brackets, stops as ".".
func read(text string) string {
	var out []string
	for _, t := range canonical(tokenize(text)) {
		if t.Kind == quoted {
			t.Canon = "[" + t.Text + "]"
		} else if t.Kind != plain {
			t.Canon = t.Text
		}
		out = append(out, t.Canon)
	}
	return strings.Join(out, " ")
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"Please get rid of the GPT-4o":        "hide gpt-4o",
		"hide openai's minis":                 "hide openai minis",
		"don't hide o3":                       "unhide o3",
		`hide "save" and 'o3'`:                "hide [save] and [o3]",
		"hide mini, nano; undo":               "hide mini , nano . undo",
		"hide:\n- o3\n- gpt-4?":               "hide , o3 , gpt-4?",
		"is gpt-4 hidden?":                    "is gpt-4 hidden ?",
		"a quote that \"is not closed":        "quote that isn't closed",
		"take it back":                        "undo",
		"block it \u202eon gemini\x1b[31m":    "hide it on gemini",
		"an allowlist for `gpt-4*` (o3, xyz)": "allow for [gpt-4*] o3 , xyz",
	} {
		if got := read(text); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
	if n := len(tokenize(strings.Repeat("x ", 2*maxTokens))); n != maxTokens+1 {
		t.Errorf("a paste has %d tokens", n)
	}
}
