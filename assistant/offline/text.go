package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// clean makes an external string safe for an answer: one line of at most 400 cells without
// payload or tool markers.
func clean(s string) string {
	return strings.NewReplacer("[[", "[ [", ": {", ": (", ":{", ":(").Replace(string(safetext.Line(strings.TrimSpace(s), 400)))
}

// code returns an external string as a Markdown code span.
func code(s string) string {
	return "`" + cmp.Or(strings.ReplaceAll(clean(s), "`", "'"), "?") + "`"
}

// quotedOrStarred matches names in a tool's message: code spans, text in quotes, and words
// with an asterisk, without trailing punctuation.
var quotedOrStarred = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|[^\\s\"`]*\\*(?:[^\\s\"`]*[^\\s\"`.,;:])?")

// withCode returns a line of a tool's message with its patterns and ids as code spans.
func withCode(s string) string {
	return quotedOrStarred.ReplaceAllStringFunc(clean(s), func(m string) string { return code(strings.Trim(m, "\"` ")) })
}

// lines changes each line of a tool's message.
func lines(s string, change func(string) string) string {
	return strings.Join(safetext.Lines(strings.TrimSpace(s), change), "\n")
}

// sentence returns a tool's message, safe for an answer, with a capital letter.
func sentence(s string) string { return assistant.UpperFirst(lines(s, withCode)) }

// block returns a tool's message: several lines as a diff, a single line as a sentence.
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

// quoted returns texts as code spans.
func quoted(all []string) (out []string) {
	for _, s := range all {
		out = append(out, code(s))
	}
	return out
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
