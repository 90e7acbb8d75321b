package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

const (
	maxEcho  = 200 // cells of one string from outside that an answer repeats
	maxNamed = 6   // names that an answer lists before it says "and N more"
	maxLines = 30  // lines of a list
)

// clean makes a string from a user, a model list or a tool fit for an answer: one line of
// at most maxEcho cells, in which the receiver finds no payload marker and no tool marker.
func clean(s string) string { return cleanTo(s, maxEcho) }

func cleanTo(s string, limit int) string {
	return strings.NewReplacer("[[", "[ [", ": {", ": (", ":{", ":(").Replace(safetext.Line(strings.TrimSpace(s), limit))
}

// code shows a string from outside as a Markdown code span.
func code(s string) string {
	if s = strings.ReplaceAll(clean(s), "`", "'"); s == "" {
		s = "?"
	}
	return "`" + s + "`"
}

// codes lists strings as code spans, "`a`, `b` and `c`", and counts those after
// the first maxNamed.
func codes(ss []string) string { return codesOf(ss, len(ss)) }

// codesOf lists n strings, of which ss are the first.
func codesOf(ss []string, n int) string {
	if n > maxNamed+1 {
		ss = ss[:min(len(ss), maxNamed)]
	}
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = code(s)
	}
	if n > len(ss) {
		return strings.Join(out, ", ") + fmt.Sprintf(" and %d more", n-len(ss))
	}
	return joinAnd(out)
}

func joinAnd(ss []string) string {
	if len(ss) < 2 {
		return strings.Join(ss, "")
	}
	return strings.Join(ss[:len(ss)-1], ", ") + " and " + ss[len(ss)-1]
}

// counted writes "1 model", "5 models", "no models".
func counted(n int, noun string) string {
	if n == 0 {
		return "no " + noun + "s"
	}
	return assistant.Counted(n, noun)
}

// verbFor picks the verb form for a number: verbFor(n, "is", "are").
func verbFor(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// quotedOrStarred finds what a tool's message names: code spans, text in double
// quotes, and words with an asterisk.
var quotedOrStarred = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|[^\\s\"“”`]*\\*[^\\s\"“”`]*")

// withCode shows a tool's message with its patterns and ids as code spans.
func withCode(s string) string {
	return quotedOrStarred.ReplaceAllStringFunc(cleanTo(s, 2*maxEcho), func(m string) string {
		body := strings.Trim(m, "\"` ")
		end := strings.TrimRight(body, ".,;:")
		if m != body { // a span or quoted: its punctuation belongs to it
			return code(body)
		}
		return code(end) + body[len(end):]
	})
}

// sentence shows a tool's message with a capital letter and a full stop.
func sentence(s string) string {
	s = assistant.UpperFirst(strings.TrimSpace(withCode(s)))
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// bullets is a head and a Markdown list of at most maxLines lines.
func bullets(head string, lines []string) string {
	if cut := len(lines) - maxLines; cut > 0 {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("and %d more", cut))
	}
	if len(lines) == 0 {
		return head
	}
	return head + "\n\n- " + strings.Join(lines, "\n- ")
}

// sheet shows a tool's message of several lines as a code block.
func sheet(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) == 1 {
		return sentence(s)
	}
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("and %d more lines", more))
	}
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(cleanTo(l, 2*maxEcho), "```", "'''")
	}
	return "```diff\n" + strings.Join(lines, "\n") + "\n```"
}

// unique drops empty strings and repetitions; the order stays.
func unique(ss []string) (out []string) {
	for _, s := range ss {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
