package offline

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"winnow/assistant/safetext"
)

// grammarText is what is understood; it explains itself.
//
//go:embed grammar.txt
var grammarText string

// section lists the lines of a part of the grammar.
func section(name string) []string {
	_, text, _ := strings.Cut(grammarText, "["+name+"]\n")
	text, _, _ = strings.Cut(text, "\n[")
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return l == "" || strings.HasPrefix(l, "#") })
}

// is reports whether a word is one of those of a line.
func is(word, line string) bool {
	return word != "" && !strings.Contains(word, " ") && strings.Contains(" "+line+" ", " "+word+" ")
}

// filler is what synonyms maps words without a meaning to, quote begins a word that was
// between quotes: it stands for itself.
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

// canonical replaces synonyms, the longest phrases first, and drops what means nothing.
func canonical(words []string) (out []string) {
	const longest = 6 // words of a phrase
	to := synonyms()
	words = slices.DeleteFunc(words, func(w string) bool { return to[w] == filler })
	for i := 0; i < len(words); {
		word, used := words[i], 1
		for n := min(longest, len(words)-i); n > 0; n-- {
			if w := to[strings.Join(words[i:i+n], " ")]; w != "" {
				word, used = w, n
				break
			}
		}
		if i += used; word != filler {
			out = append(out, word)
		}
	}
	return out
}

// phrase is a condition and one way to say it in words.
type phrase struct {
	condition string
	said      *regexp.Regexp
}

var phrases = sync.OnceValue(func() (out []phrase) {
	classes := strings.NewReplacer("MILLION", `(?: ?(?:per|an?|/) ?(?:1m\b|m\b|mtok|million)(?: tokens)?)?`, "N", `(\d+(?:\.\d+)?)`,
		"SPAN", `((?:(?:the |this |for )?(?:last |past |over )?(?:\d+ ?)?(?:days?|d|weeks?|w|months?|mo|years?|y)|today|yesterday|ever))\b`,
		"ABOVE", `(?:above|over|more than|greater than|higher than|at least|from|>=?)`, "BELOW", `(?:below|under|less than|cheaper than|at most|smaller than|<=?)`)
	for _, line := range section("conditions") {
		to, said, _ := strings.Cut(line, " <- ")
		out = append(out, phrase{to, regexp.MustCompile("(?i)" + classes.Replace(said))})
	}
	return out
})

var (
	// conditions matches a condition as it is written.
	conditions = regexp.MustCompile(`(?i)^!?(?:(?:price|price_in|ctx|requests|released)(?:>=|<=|[<>=])\d[\w.-]*|(?:unused|used|status|family|kind):[\w.-]+|name:\S+|tools|vision|reasoning|structured)$`)
	// ages matches the age in a condition that was said in words.
	ages = regexp.MustCompile(`(?i)\b(unused|used):(?:today|yesterday|ever|(?:the |this |for )?(?:last |past |over )?(\d*) ?(d|w|mo|y)[a-z]*|$|\s)`)
)

// withConditions writes the conditions that a text says in words as find_models takes them.
func withConditions(text string) string {
	for _, p := range phrases() {
		text = p.said.ReplaceAllString(text, " "+p.condition+" ")
	}
	return ages.ReplaceAllStringFunc(text, func(s string) string {
		m := ages.FindStringSubmatch(s)
		switch {
		case m[3] != "":
			return m[1] + ":" + cmp.Or(m[2], "1") + strings.ToLower(m[3])
		case strings.HasSuffix(s, "day"):
			return m[1] + ":1d"
		}
		return m[1] + ":30d "
	})
}

// maxWords bounds what is read of one message. A longer one is a paste, not a request, and is
// refused as a whole.
const maxWords = 500

var (
	// pieces matches quoted texts, separators and words; a quote that is not closed on its
	// line is left out.
	pieces   = regexp.MustCompile("\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”|‘[^’\n]*’|'[^'\n]*'|[,;\n]|[^\\s,;\"`]+")
	inQuotes = regexp.MustCompile("^[\"`“‘'](.*)[\"`”’']$")
	// bullet begins a line of a list.
	bullet = regexp.MustCompile(`(?m)^\s*[-–•*>]\s+`)
	// questions matches the start of a sentence in which a question mark is no wildcard.
	questions = regexp.MustCompile(`(?i)^\W*(?:why|what|which|who|where|is|are|can|could|would|will|do|does|how|any)\b`)
)

// split splits text into words, "," and the stops "." and "?". Words are in lower case, but
// for quoted ones and patterns; "openai's" is "openai".
func split(text string) (out []string) {
	text = bullet.ReplaceAllString(safetext.Clean(text), "")
	question := questions.MatchString(text)
	text = strings.ReplaceAll(text, "?;", " ? ;") // it ends a question, it is no wildcard
	for _, s := range pieces.FindAllString(text, maxWords+1) {
		inside := inQuotes.FindStringSubmatch(s)
		switch {
		case s == "," || s == "\n":
			out = append(out, ",")
			continue
		case inside != nil:
			for w := range strings.FieldsSeq(inside[1]) {
				out = append(out, quote+w)
			}
			continue
		}
		word, end := trimWord(strings.ReplaceAll(s, "’", "'"), question)
		if lower := strings.ToLower(word); !isPattern(word) {
			word = lower
		}
		if synonyms()[word] == "" {
			word = strings.TrimSuffix(word, "'s")
		}
		for _, w := range []string{word, end} {
			if w != "" {
				out = append(out, w)
			}
		}
	}
	return out
}

func isPattern(word string) bool { return strings.ContainsAny(word, "*?[") }

// trimWord strips brackets and punctuation from a word; end is the stop that the punctuation
// is. Inside a word it belongs to an id or a pattern.
func trimWord(s string, question bool) (word, end string) {
	s = strings.TrimLeft(s, "({")
	word = strings.TrimRight(s, ".!:;)}'")
	if bare := strings.TrimRight(word, ".!:;)}'?"); question || !strings.ContainsAny(bare, "0123456789*-[/") {
		word = bare
	}
	switch {
	case strings.Contains(s[len(word):], "?"):
		end = "?"
	case strings.ContainsAny(s[len(word):], ".!;"):
		end = "."
	}
	return word, end
}
