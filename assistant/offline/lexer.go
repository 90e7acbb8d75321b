package offline

import (
	_ "embed"
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

// section lists the lines of a part of the grammar.
func section(name string) []string {
	_, text, _ := strings.Cut(grammarText, "["+name+"]\n")
	text, _, _ = strings.Cut(text, "\n[")
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool {
		return l == "" || strings.HasPrefix(l, "#")
	})
}

// is reports whether a word is one of the words in a line.
func is(word, line string) bool {
	return word != "" && !strings.Contains(word, " ") && strings.Contains(" "+line+" ", " "+word+" ")
}

// filler replaces words without a meaning. quote precedes a word that was in quotes, which
// is taken literally.
const (
	filler = "-"
	quote  = `"`
)

// synonyms returns what each word or phrase stands for.
var synonyms = sync.OnceValue(func() map[string]string {
	to := map[string]string{}
	for _, line := range section("words") {
		words := strings.Fields(line)
		for _, w := range words {
			to[strings.ReplaceAll(w, "_", " ")] = words[0]
		}
	}
	return to
})

// canonical replaces synonyms, longest phrases first, and drops filler.
func canonical(words []string) (out []string) {
	const longest = 6 // words of a phrase
	to := synonyms()
	words = slices.DeleteFunc(words, func(w string) bool { return to[w] == filler })
	for i := 0; i < len(words); {
		n := min(longest, len(words)-i)
		for n > 1 && to[strings.Join(words[i:i+n], " ")] == "" {
			n--
		}
		word := words[i]
		if w := to[strings.Join(words[i:i+n], " ")]; w != "" {
			word = w
		}
		if i += n; word != filler {
			out = append(out, word)
		}
	}
	return out
}

// rewrite is a way to say something, and its replacement.
type rewrite struct {
	said *regexp.Regexp
	by   string
}

var rewrites = sync.OnceValue(func() (out []rewrite) {
	var names []string
	for _, line := range section("names") {
		name, said, _ := strings.Cut(line, " ")
		names = append(names, name, said)
	}
	expand := strings.NewReplacer(names...)
	for _, line := range section("conditions") {
		by, said, _ := strings.Cut(line, " <- ")
		out = append(out, rewrite{regexp.MustCompile("(?i)" + expand.Replace(said)), " " + by + " "})
	}
	return out
})

// withConditions replaces conditions in plain words with the syntax of find_models.
func withConditions(text string) string {
	for _, r := range rewrites() {
		text = r.said.ReplaceAllString(text, r.by)
	}
	return text
}

// conditions matches a condition in the syntax of find_models.
var conditions = regexp.MustCompile(`(?i)^!?(?:(?:price|price_in|ctx|requests|released)(?:>=|<=|[<>=])\d[\w.-]*|` +
	`(?:unused|used|status|family|kind):[\w.-]+|name:\S+|tools|vision|reasoning|structured)$`)

// maxWords limits the words of a message. A longer message is a paste, not a request, and
// is refused.
const maxWords = 500

var (
	// pieces matches quoted texts, separators and words; a quote that is not closed on its
	// line is left out.
	pieces   = regexp.MustCompile("\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”|‘[^’\n]*’|'[^'\n]*'|[,;\n]|[^\\s,;\"`]+")
	inQuotes = regexp.MustCompile("^[\"`“‘'](.*)[\"`”’']$")
	// bullet begins a line of a list.
	bullet = regexp.MustCompile(`(?m)^\s*[-–•*>]\s+`)
)

// split splits text into words, "," and the stops "." and "?". Words are in lower case,
// except quoted ones and patterns; "openai's" is "openai". A question mark at the end of a
// word is a stop: a pattern that ends with one is quoted.
func split(text string) (out []string) {
	for _, s := range pieces.FindAllString(bullet.ReplaceAllString(safetext.Clean(text), ""), maxWords+1) {
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
			stop := stopIn(s[len(word):])
			if !isPattern(word) {
				word = strings.ToLower(word)
			}
			if synonyms()[word] == "" {
				word = strings.TrimSuffix(word, "'s")
			}
			out = append(out, word, stop)
		}
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" })
}

// stopIn returns the stop in the punctuation after a word; "" if there is none.
func stopIn(punctuation string) string {
	switch {
	case strings.Contains(punctuation, "?"):
		return "?"
	case strings.ContainsAny(punctuation, ".!"):
		return "."
	}
	return ""
}

func isPattern(word string) bool { return strings.ContainsAny(word, "*?[") }
