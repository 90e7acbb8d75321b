package offline

import (
	"cmp"
	_ "embed"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"winnow/assistant/safetext"
)

// grammarText defines what the model understands; its comments explain the format.
//
//go:embed grammar.txt
var grammarText string

// grammar contains the lines of each section of grammarText.
var grammar = sync.OnceValue(func() map[string][]string {
	sections, name := map[string][]string{}, ""
	for line := range strings.SplitSeq(strings.TrimSpace(grammarText), "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name = strings.Trim(line, "[]")
		default:
			sections[name] = append(sections[name], line)
		}
	}
	return sections
})

// talk returns an answer that does not depend on the window; "" if there is none for the kind.
func talk(kind string) string {
	for _, line := range grammar()["talk"] {
		if text, ok := strings.CutPrefix(line, kind+": "); ok {
			return os.Expand(text, talk)
		}
	}
	return ""
}

// is reports whether a word is one of the words in a line.
func is(word, line string) bool {
	return word != "" && !strings.Contains(word, " ") && strings.Contains(" "+line+" ", " "+word+" ")
}

// in reports whether a word is in a class of the grammar.
func in(word, class string) bool { return is(word, grammar()[class][0]) }

const (
	filler = "-" // replaces words without a meaning
	quote  = `"` // precedes a word that was in quotes, which is taken literally
)

// synonyms returns what each word or phrase stands for.
var synonyms = sync.OnceValue(func() map[string]string {
	to := map[string]string{}
	for _, line := range grammar()["words"] {
		words := strings.Fields(line)
		for _, w := range words {
			said := strings.ReplaceAll(w, "_", " ")
			to[said], to[strings.ReplaceAll(said, "'", "")] = words[0], words[0] // dont show
		}
	}
	return to
})

// canonical replaces synonyms, longest phrases first, and drops filler.
func canonical(words []string) (out []string) {
	const longest = 6 // words of a phrase
	to := synonyms()
	words = slices.DeleteFunc(words, func(w string) bool { return to[w] == filler })
	for len(words) > 0 {
		n := min(longest, len(words))
		for n > 1 && to[strings.Join(words[:n], " ")] == "" {
			n--
		}
		word := cmp.Or(to[strings.Join(words[:n], " ")], words[0])
		if words = words[n:]; word != filler {
			out = append(out, word)
		}
	}
	return out
}

// rule is a way to say something, and what it means.
type rule struct {
	said  *regexp.Regexp
	means string
}

// names replaces each name that the grammar defines with the part of a regular expression for
// which it stands.
var names = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, line := range grammar()["names"] {
		pairs = append(pairs, strings.SplitN(line, " ", 2)...)
	}
	return strings.NewReplacer(pairs...)
})

var rewrites = sync.OnceValue(func() (out []rule) {
	for _, line := range grammar()["conditions"] {
		means, said, _ := strings.Cut(line, " <- ")
		out = append(out, rule{regexp.MustCompile("(?i)" + names().Replace(said)), " " + means + " "})
	}
	return out
})

// withConditions replaces conditions in plain words with the syntax of find_models.
func withConditions(text string) string {
	for _, r := range rewrites() {
		text = r.said.ReplaceAllString(text, r.means)
	}
	return text
}

// maxWords limits the words of a message. A longer one is a paste, not a request.
const maxWords = 500

var (
	// pieces matches quoted texts, separators and words; a quote that is not closed on its
	// line is left out.
	pieces   = regexp.MustCompile("\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”|‘[^’\n]*’|'[^'\n]*'|[,;\n]|[^\\s,;\"`]+")
	inQuotes = regexp.MustCompile("^[\"`“‘'](.*)[\"`”’']$")
	// bullet begins a line of a list.
	bullet = regexp.MustCompile(`(?m)^\s*[-–•*>]\s+`)
	// conditions matches a condition in the syntax of find_models.
	conditions = regexp.MustCompile(`(?i)^!?(?:\w+[<>=]=?\d[\w.-]*|(?:unused|used|status|family|kind|name):\S+|tools|vision|reasoning|structured)$`)
)

// split splits text into words, "," and the stops "." and "?". Words are in lower case,
// except quoted ones and patterns; "openai's" is "openai". A question mark at the end of a
// word is a stop: a pattern that ends with one must be quoted.
func split(text string) (out []string) {
	all := pieces.FindAllString(bullet.ReplaceAllString(string(safetext.Clean(text)), ""), maxWords+1)
	if len(all) > maxWords {
		return []string{"a message of this length"}
	}
	for _, s := range all {
		inside := inQuotes.FindStringSubmatch(s)
		switch {
		case s == "," || s == "\n":
			out = append(out, ",")
		case s == ";":
			out = append(out, ".")
		case inside != nil:
			for w := range strings.FieldsSeq(inside[1]) {
				out = append(out, quote+w)
			}
		default:
			s = strings.TrimLeft(strings.ReplaceAll(s, "’", "'"), "({")
			word := strings.TrimRight(s, ".!:)}'?")
			stop := strings.Trim(s[len(word):], ":)}'")
			if !isPattern(word) {
				word = strings.ToLower(word)
			}
			if synonyms()[word] == "" {
				word = strings.TrimSuffix(word, "'s")
			}
			if out = append(out, word); strings.Contains(stop, "?") {
				out = append(out, "?")
			} else if stop != "" {
				out = append(out, ".")
			}
		}
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" })
}

func isPattern(word string) bool { return strings.ContainsAny(word, "*?[") }
