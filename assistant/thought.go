package assistant

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Thought is where a block of a pair's Reasoning was thought. The places are in
// bytes of the texts as they are stored; the blocks are in order.
type Thought struct {
	From  int           `json:"from"`           // in Reasoning: it goes on to the next block
	Place int           `json:"place"`          // in AssistantText: how much of it came before
	Took  time.Duration `json:"took,omitempty"` // in ns
	Text  string        `json:"-"`              // without the space around it; only in what PairThoughts returns
}

// PairThoughts splits the Reasoning of a pair; none is nil. Places that do not
// fit the texts make one block of all of it, and so does a pair from before there
// were places.
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
		t.Place = min(t.Place, len(p.AssistantText)) // the answer may have been cut since; the thinking never is
		ordered := (i > 0 || t.From == 0) && before.From <= t.From && t.From <= end && end <= len(p.Reasoning) && before.Place <= t.Place
		escaped := strings.HasSuffix(p.AssistantText[:max(t.Place, 0)], `\`) // a marker is escaped there
		if !ordered || escaped || !begins(p.Reasoning, t.From) || !begins(p.AssistantText, t.Place) {
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

// begins reports whether a character of text begins at this byte, or its end.
func begins(text string, at int) bool {
	return at == len(text) || at < len(text) && utf8.RuneStart(text[at])
}

// beginThought notes where a block begins. What follows a block with nothing
// in between, as after a silent correction, goes on with it.
func (t *turn) beginThought() {
	place := t.text.Len()
	if n := len(t.thoughts); n > 0 && t.thoughts[n-1].Place == place {
		return
	}
	t.thoughts = append(t.thoughts, Thought{From: t.reasoning.Len(), Place: place})
}

// flushThoughts writes the places into the pair, whose texts end before the space
// that may follow. One block that came first needs no place.
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
