package offline

import (
	"regexp"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

const (
	maxEcho  = 400 // cells of an external line that an answer repeats
	maxLines = 30  // lines of a list
)

// clean makes a string from a user, a model list or a tool safe for an answer: one line of
// at most maxEcho cells without payload or tool markers.
func clean(s string) string {
	return strings.NewReplacer("[[", "[ [", ": {", ": (", ":{", ":(").Replace(safetext.Line(strings.TrimSpace(s), maxEcho))
}

// code returns an external string as a Markdown code span.
func code(s string) string {
	if s = strings.ReplaceAll(clean(s), "`", "'"); s == "" {
		s = "?"
	}
	return "`" + s + "`"
}

// quotedOrStarred matches names in a tool's message: code spans, text in quotes, and words
// with an asterisk, without trailing punctuation.
var quotedOrStarred = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|[^\\s\"`]*\\*(?:[^\\s\"`]*[^\\s\"`.,;:])?")

// withCode returns a line of a tool's message with its patterns and ids as code spans.
func withCode(s string) string {
	return quotedOrStarred.ReplaceAllStringFunc(clean(s), func(m string) string { return code(strings.Trim(m, "\"` ")) })
}

// lines returns the lines of a tool's message, at most maxLines, safe for an answer.
func lines(s string, fit func(string) string) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range all {
		all[i] = fit(l)
	}
	return strings.Join(all[:min(len(all), maxLines)], "\n")
}

// sentence returns a tool's message with a capital letter and a full stop.
func sentence(s string) string {
	s = assistant.UpperFirst(lines(s, withCode))
	if s == "" || strings.Contains(s, "\n") || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// block returns a tool's message of several lines as a diff.
func block(s string) string {
	if !strings.Contains(s, "\n") {
		return sentence(s)
	}
	return "```diff\n" + lines(s, func(l string) string { return strings.ReplaceAll(clean(l), "```", "'''") }) + "\n```"
}

// bullets returns a heading and a Markdown list.
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
