package offline

import (
	"regexp"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

const (
	maxEcho  = 400 // cells of one line from outside that an answer repeats
	maxLines = 30  // lines of a list
)

// clean makes a string from a user, a model list or a tool fit for an answer: one line of
// at most maxEcho cells, in which the receiver finds no payload marker and no tool marker.
func clean(s string) string {
	return strings.NewReplacer("[[", "[ [", ": {", ": (", ":{", ":(").Replace(safetext.Line(strings.TrimSpace(s), maxEcho))
}

// code shows a string from outside as a Markdown code span.
func code(s string) string {
	if s = strings.ReplaceAll(clean(s), "`", "'"); s == "" {
		s = "?"
	}
	return "`" + s + "`"
}

// quotedOrStarred finds what a tool's message names: code spans, text in quotes, and words with
// an asterisk, without the punctuation at their end.
var quotedOrStarred = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|[^\\s\"`]*\\*(?:[^\\s\"`]*[^\\s\"`.,;:])?")

// withCode shows a line of a tool with its patterns and ids as code spans.
func withCode(s string) string {
	return quotedOrStarred.ReplaceAllStringFunc(clean(s), func(m string) string { return code(strings.Trim(m, "\"` ")) })
}

// lines makes each of the lines of a tool's message, at most maxLines, fit for an answer.
func lines(s string, fit func(string) string) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range all {
		all[i] = fit(l)
	}
	return strings.Join(all[:min(len(all), maxLines)], "\n")
}

// sentence shows a tool's message with a capital letter and a full stop.
func sentence(s string) string {
	s = assistant.UpperFirst(lines(s, withCode))
	if s == "" || strings.Contains(s, "\n") || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// block shows a tool's message of several lines as a difference.
func block(s string) string {
	if !strings.Contains(s, "\n") {
		return sentence(s)
	}
	return "```diff\n" + lines(s, func(l string) string { return strings.ReplaceAll(clean(l), "```", "'''") }) + "\n```"
}

// bullets is a head and a Markdown list.
func bullets(head string, lines []string) string {
	return strings.Join(append([]string{head + "\n"}, lines...), "\n- ")
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
