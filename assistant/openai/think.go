package openai

import "strings"

// The tags that some models put around their reasoning.
const (
	openThink  = "<think>"
	closeThink = "</think>"
)

// thinkSplitter parts content into text and the reasoning between <think> and
// </think>, also when a tag is cut in two. The zero value is ready to use.
type thinkSplitter struct {
	inside  bool   // after <think>
	trim    bool   // white space that comes now belongs to the tag before
	started bool   // some text came; a tag is then one only after white space
	last    byte   // of the text so far
	held    string // what may be the beginning of a tag
}

// write takes content and hands the pieces that are certain to emit.
func (t *thinkSplitter) write(s string, emit func(text string, reasoning bool)) {
	if t.held != "" {
		s, t.held = t.held+s, ""
	}
	for s != "" {
		if t.trim {
			if s = strings.TrimLeft(s, " \t\r\n"); s == "" {
				return
			}
			t.trim = false
		}
		if t.inside {
			s = t.reasoning(s, emit)
		} else {
			s = t.text(s, emit)
		}
	}
}

// flush emits what was held back: it was no tag.
func (t *thinkSplitter) flush(emit func(text string, reasoning bool)) {
	if t.held != "" {
		emit(t.held, t.inside)
		t.held = ""
	}
}

func (t *thinkSplitter) reasoning(s string, emit func(string, bool)) (rest string) {
	before, rest, found := strings.Cut(s, closeThink)
	if !found {
		keep := beginningOf(closeThink, s)
		before, t.held = s[:len(s)-keep], s[len(s)-keep:]
	}
	if before != "" {
		emit(before, true)
	}
	if found {
		t.inside, t.trim = false, true
	}
	return rest
}

func (t *thinkSplitter) text(s string, emit func(string, bool)) (rest string) {
	for from := 0; ; {
		at := strings.IndexByte(s[from:], '<')
		if at < 0 {
			t.say(s, emit)
			return ""
		}
		at += from
		from = at + 1
		tail := s[at:]
		switch {
		case !t.mayOpen(s[:at]):
		case strings.HasPrefix(tail, openThink):
			t.say(s[:at], emit)
			t.inside, t.trim = true, true
			return tail[len(openThink):]
		case strings.HasPrefix(openThink, tail):
			t.say(s[:at], emit)
			t.held = tail
			return ""
		}
	}
}

// mayOpen reports whether a tag right after before would be one.
func (t *thinkSplitter) mayOpen(before string) bool {
	last := t.last
	if before != "" {
		last = before[len(before)-1]
	} else if !t.started {
		return true
	}
	return last == ' ' || last == '\n' || last == '\t' || last == '\r'
}

func (t *thinkSplitter) say(s string, emit func(string, bool)) {
	if s == "" {
		return
	}
	t.started, t.last = true, s[len(s)-1]
	emit(s, false)
}

// beginningOf returns how long the longest end of s is that tag begins with.
func beginningOf(tag, s string) int {
	for n := min(len(tag)-1, len(s)); n > 0; n-- {
		if strings.HasPrefix(tag, s[len(s)-n:]) {
			return n
		}
	}
	return 0
}
