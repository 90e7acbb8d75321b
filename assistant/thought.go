package assistant

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Thought is a block of a pair's Reasoning and where in the answer it was thought.
// Offsets are in bytes of the texts as they are stored; the blocks are in order.
type Thought struct {
	From  int           `json:"from"`           // offset in Reasoning; the block ends where the next one begins
	Place int           `json:"place"`          // offset in AssistantText of what was written after the block
	Took  time.Duration `json:"took,omitempty"` // in ns
	Text  string        `json:"-"`              // without the space around it; only in what PairThoughts returns
}

// PairThoughts splits the Reasoning of a pair; nil without one. It is one block when
// the offsets do not fit the texts, or the pair was stored by a version without them.
func PairThoughts(p *Pair) []Thought {
	if strings.TrimSpace(p.Reasoning) == "" {
		return nil
	}
	whole := []Thought{{Took: p.ReasoningFor, Text: p.Reasoning}}
	var out []Thought
	var before Thought
	for i, t := range p.Thoughts {
		end := len(p.Reasoning)
		if i+1 < len(p.Thoughts) {
			end = p.Thoughts[i+1].From
		}
		t.Place = min(t.Place, len(p.AssistantText)) // the text may have been shortened since; Reasoning never is
		ordered := (i > 0 || t.From == 0) && before.From <= t.From && t.From <= end && end <= len(p.Reasoning) && before.Place <= t.Place
		escaped := strings.HasSuffix(p.AssistantText[:max(t.Place, 0)], `\`) // a marker is escaped there
		if !ordered || escaped || !startsRune(p.Reasoning, t.From) || !startsRune(p.AssistantText, t.Place) {
			return whole
		}
		before = t
		if t.Text = strings.TrimSpace(p.Reasoning[t.From:end]); t.Text != "" {
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

// beginThought adds a block. Without text since the last block, as after a silent
// correction, that one continues.
func (t *turn) beginThought() {
	place := t.text.Len()
	if n := len(t.thoughts); n > 0 && t.thoughts[n-1].Place == place {
		return
	}
	t.thoughts = append(t.thoughts, Thought{From: t.reasoning.Len(), Place: place})
}

// flushThoughts writes the offsets into the pair, whose texts are trimmed. A single
// block before the text needs none.
func (t *turn) flushThoughts() {
	t.pair.Thoughts = nil
	if len(t.thoughts) == 0 || len(t.thoughts) == 1 && t.thoughts[0].Place == 0 {
		return
	}
	for _, b := range t.thoughts {
		b.From, b.Place = min(b.From, len(t.pair.Reasoning)), min(b.Place, len(t.pair.AssistantText))
		t.pair.Thoughts = append(t.pair.Thoughts, b)
	}
}
