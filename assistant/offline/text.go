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

// codes lists n strings, of which ss are the first, as code spans: "`a`, `b` and 3 more".
func codes(ss []string, n int) string {
	if n > maxNamed+1 {
		ss = ss[:min(len(ss), maxNamed)]
	}
	var out []string
	for _, s := range ss {
		out = append(out, code(s))
	}
	if n > len(ss) {
		out = append(out, fmt.Sprintf("%d more", n-len(ss)))
	}
	return joinAnd(out)
}

func joinAnd(ss []string) string {
	if len(ss) < 2 {
		return strings.Join(ss, "")
	}
	return strings.Join(ss[:len(ss)-1], ", ") + " and " + ss[len(ss)-1]
}

// verbFor picks the verb form for a number: verbFor(n, "is", "are").
func verbFor(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// quotedOrStarred finds what a tool's message names: code spans, text in quotes, and
// words with an asterisk.
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

// sentence shows a tool's message with a capital letter and a full stop; one of several lines
// as a block.
func sentence(s string) string {
	if lines := strings.Split(strings.TrimSpace(s), "\n"); len(lines) > 1 {
		lines = lines[:min(len(lines), maxLines)]
		for i, l := range lines {
			lines[i] = strings.ReplaceAll(clean(l), "```", "'''")
		}
		return "```diff\n" + strings.Join(lines, "\n") + "\n```"
	}
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
	if len(lines) > 0 {
		head += "\n"
	}
	return strings.Join(append([]string{head}, lines...), "\n- ")
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
