// Package thought splits the reasoning of a pair into the blocks in which it was thought.
//
// A Block is such a block and its place in the answer; Split returns them with their
// texts. Both are plain data: any goroutine may use them.
//
// # Caveats
//
// The offsets of a Block fit only the texts that they were stored with. Split checks them.
package thought

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Block is a block of a pair's reasoning and where in the answer it was thought.
// Offsets are in bytes of the texts as they are stored; the blocks are in order.
type Block struct {
	From  int           `json:"from"`           // offset in the reasoning; the block ends where the next one begins
	Place int           `json:"place"`          // offset in the answer of what was written after the block
	Took  time.Duration `json:"took,omitempty"` // in ns
	Text  string        `json:"-"`              // without the space around it; only in what Split returns
}

// Split splits the reasoning of a pair into the blocks that were stored with it; nil
// without reasoning. Where they do not fit the texts, or an older version stored none, it
// returns one block, which took the time given.
func Split(reasoning, answer string, took time.Duration, stored []Block) []Block {
	if strings.TrimSpace(reasoning) == "" {
		return nil
	}
	whole := []Block{{Took: took, Text: reasoning}}
	var out []Block
	var before Block
	for i, t := range stored {
		end := len(reasoning)
		if i+1 < len(stored) {
			end = stored[i+1].From
		}
		t.Place = min(t.Place, len(answer)) // the text may have been shortened since; the reasoning never is
		ordered := (i > 0 || t.From == 0) && before.From <= t.From && t.From <= end && end <= len(reasoning) && before.Place <= t.Place
		escaped := strings.HasSuffix(answer[:max(t.Place, 0)], `\`) // a marker is escaped there
		if !ordered || escaped || !startsRune(reasoning, t.From) || !startsRune(answer, t.Place) {
			return whole
		}
		before = t
		if t.Text = strings.TrimSpace(reasoning[t.From:end]); t.Text != "" {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return whole
	}
	return out
}

// startsRune reports whether at is where a character of text begins, or its end.
func startsRune(text string, at int) bool {
	return at == len(text) || at < len(text) && utf8.RuneStart(text[at])
}
