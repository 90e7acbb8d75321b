package openai

import "strings"

// The tags that some models put around their reasoning.
const (
	openThink  = "<think>"
	closeThink = "</think>"
)

// thinkSplitter separates content into text and the reasoning between <think> and
// </think>, even if a tag arrives in two pieces. The zero value is ready to use.
type thinkSplitter struct {
	inside  bool   // after <think>
	trim    bool   // after a tag, where white space is dropped
	last    byte   // last byte of the text so far; 0 if none
	pending string // content that may be the beginning of a tag
}

// write adds content, and calls emit for each piece that is known to be text or reasoning.
func (t *thinkSplitter) write(s string, emit func(text string, reasoning bool)) {
	s, t.pending = t.pending+s, ""
	for s != "" {
		if t.trim {
			if s = strings.TrimLeft(s, " \t\r\n"); s == "" {
				return
			}
			t.trim = false
		}
		before, rest, tag := t.cut(s)
		if before != "" {
			emit(before, t.inside)
			if !t.inside {
				t.last = before[len(before)-1]
			}
		}
		if tag {
			t.inside, t.trim = !t.inside, true
		} else {
			t.pending, rest = rest, ""
		}
		s = rest
	}
}

// cut splits s at the next tag. If s contains no complete tag, rest is the part at the end
// of s that may begin a tag.
func (t *thinkSplitter) cut(s string) (before, rest string, tag bool) {
	if t.inside {
		if before, rest, tag = strings.Cut(s, closeThink); tag {
			return before, rest, true
		}
		for n := min(len(closeThink)-1, len(s)); n > 0; n-- {
			if strings.HasPrefix(closeThink, s[len(s)-n:]) {
				return s[:len(s)-n], s[len(s)-n:], false
			}
		}
		return s, "", false
	}
	for from := 0; ; {
		at := strings.IndexByte(s[from:], '<')
		if at < 0 {
			return s, "", false
		}
		at += from
		from = at + 1
		last := t.last
		if at > 0 {
			last = s[at-1]
		}
		switch {
		case last != 0 && strings.IndexByte(" \t\r\n", last) < 0: // a tag must follow white space
		case strings.HasPrefix(s[at:], openThink):
			return s[:at], s[at+len(openThink):], true
		case strings.HasPrefix(openThink, s[at:]):
			return s[:at], s[at:], false
		}
	}
}

// flush emits the pending text, which turned out not to be a tag.
func (t *thinkSplitter) flush(emit func(text string, reasoning bool)) {
	if t.pending != "" {
		emit(t.pending, t.inside)
		t.pending = ""
	}
}
