package offline

import (
	"fmt"
	"strings"
	"unicode"

	"winnow/assistant"
)

const (
	// echoRunes is how much of one foreign string (an id, a pattern, a tool's
	// message) an answer repeats: longer ids than the prompt shows carry no
	// meaning for a reader.
	echoRunes = 200
	// namesShown is how many ids an answer lists before it says "and N more".
	namesShown = 6
)

// clean makes a string from a user, a model list or a tool fit to be repeated:
// one line, no control, format or bidi character, no text that the receiver
// would read as a payload marker or a tool marker, at most echoRunes runes.
func clean(s string) string { return cleanTo(s, echoRunes) }

func cleanTo(s string, limit int) string {
	var b strings.Builder
	n, space, cut := 0, false, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case !unicode.IsPrint(r), r == unicode.ReplacementChar, isSelector(r):
			continue
		}
		if n >= limit {
			cut = true
			break
		}
		if space {
			b.WriteByte(' ')
			n, space = n+1, false
		}
		b.WriteRune(r)
		n++
	}
	if cut {
		b.WriteRune('…')
	}
	return defuse(b.String())
}

// isSelector tells variation selectors, which are printable but unseen.
func isSelector(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF
}

// defuse breaks what would be read as `MARKER: {json}` or `[[tool:N]]`.
func defuse(s string) string {
	s = strings.ReplaceAll(s, "[[", "[ [")
	s = strings.ReplaceAll(s, ": {", ": (")
	return strings.ReplaceAll(s, ":{", ":(")
}

// code shows a foreign string as a Markdown code span.
func code(s string) string {
	s = strings.ReplaceAll(clean(s), "`", "'")
	if s == "" {
		s = "?"
	}
	return "`" + s + "`"
}

// codes lists strings as code spans: "`a`, `b` and `c`".
func codes(ss []string) string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = code(s)
	}
	return joinAnd(out)
}

// someCodes lists the first namesShown strings and counts the rest.
func someCodes(ss []string) string {
	if len(ss) <= namesShown+1 {
		return codes(ss)
	}
	out := make([]string, 0, namesShown+1)
	for _, s := range ss[:namesShown] {
		out = append(out, code(s))
	}
	return strings.Join(out, ", ") + fmt.Sprintf(" and %d more", len(ss)-namesShown)
}

func joinAnd(ss []string) string {
	switch len(ss) {
	case 0:
		return ""
	case 1:
		return ss[0]
	}
	return strings.Join(ss[:len(ss)-1], ", ") + " and " + ss[len(ss)-1]
}

// count writes "1 model", "5 models", "no models".
func count(n int, noun string) string {
	if n == 0 {
		return "no " + noun + "s"
	}
	return assistant.Counted(n, noun)
}

// foreign shows a tool's words. They get no code spans: what an answer asks
// the user to say stands in one, and only this model's own words may.
func foreign(s string) string { return strings.ReplaceAll(clean(s), "`", "'") }

// sentence makes a tool's message end like one.
func sentence(s string) string {
	s = strings.TrimSpace(foreign(s))
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?…") {
		return s
	}
	return s + "."
}

// unique drops empty strings and repetitions, keeping the order.
func unique(ss []string) []string {
	seen := make(map[string]bool, len(ss))
	out := ss[:0:0]
	for _, s := range ss {
		if s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
