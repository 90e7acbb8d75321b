package offline

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

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

// tokenKind is what a token is.
type tokenKind int

// The kinds of tokens.
const (
	plain     tokenKind = iota // a word, an id or a pattern
	quoted                     // text between quotes, used as it is
	condition                  // price>10: a condition of find_models
	comma                      // , or a line break: joins a list or begins a request
	stop                       // ; . ! ?: ends a request; its text is "?" or "."
)

// token is one piece of the user's text.
type token struct {
	Kind  tokenKind
	Text  string // as typed, without quotes and outer punctuation
	Canon string // in lower case; for a synonym, the word that the forms use
}

// Is reports whether t is one of words, unquoted.
func (t token) Is(words ...string) bool { return t.Kind == plain && slices.Contains(words, t.Canon) }

// In reports whether t is an unquoted word of the set.
func (t token) In(words map[string]bool) bool { return t.Kind == plain && words[t.Canon] }

// filler is what synonyms maps words without a meaning to.
const filler = "-"

// synonyms returns what each word or phrase stands for, and the most words of a phrase.
var synonyms = sync.OnceValues(func() (synonyms map[string]string, longest int) {
	synonyms = map[string]string{}
	for _, line := range section("words") {
		words := strings.Fields(line)
		for _, w := range words {
			synonyms[strings.ReplaceAll(w, "_", " ")] = words[0]
			longest = max(longest, strings.Count(w, "_")+1)
		}
	}
	return synonyms, longest
})

// standsFor returns the word that a word is a synonym of, or "".
func standsFor(word string) string {
	synonyms, _ := synonyms()
	return synonyms[word]
}

// canonical replaces synonyms, the longest phrases first, and drops what means nothing.
func canonical(tokens []token) (out []token) {
	synonyms, longestPhrase := synonyms()
	tokens = slices.DeleteFunc(tokens, func(t token) bool { return t.Kind == plain && synonyms[t.Canon] == filler })
	for i := 0; i < len(tokens); {
		t, used := tokens[i], 1
		for n := min(longestPhrase, len(tokens)-i); n > 0; n-- {
			phrase := tokens[i : i+n]
			if slices.ContainsFunc(phrase, func(t token) bool { return t.Kind != plain }) {
				continue
			}
			text := strings.Join(textsOf(phrase), " ")
			if to := synonyms[strings.ToLower(strings.ReplaceAll(text, "’", "'"))]; to != "" {
				t, used = token{plain, text, to}, n
				break
			}
		}
		if t.Canon != filler {
			out = append(out, t)
		}
		i += used
	}
	return out
}

// textsOf are the texts of tokens, without commas and stops.
func textsOf(tokens []token) (out []string) {
	for _, t := range tokens {
		if t.Kind != comma && t.Kind != stop {
			out = append(out, t.Text)
		}
	}
	return out
}

// wordSet builds a word set from a line of words.
func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
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
	ages = regexp.MustCompile(`(?i)\b(unused|used):(?:(?:the |this |for )?(?:last |past |over )?(\d*) ?(d|w|mo|y)[a-z]*|today|yesterday|ever|$|\s)`)
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

// maxTokens bounds what is read of one message. A longer one is a paste, not a
// request, and is refused as a whole.
const maxTokens = 500

var (
	// pieces matches quoted texts, separators and words. A word ends before a space,
	// comma, semicolon or quote; a quote that is not closed on its line is left out.
	pieces = regexp.MustCompile("\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”|‘[^’\n]*’|'[^'\n]*'|[,;\n]|[^\\s,;\"`]+")
	// bulletSigns begin the lines of a list.
	bulletSigns = regexp.MustCompile(`(?m)^\s*[-–•*>]\s+`)
	// questions matches the start of a sentence in which a question mark is no wildcard.
	questions = regexp.MustCompile(`(?i)^\W*(?:why|what|which|who|where|is|are|can|could|would|will|do|does|how|any)\b`)
)

// tokenize splits text into tokens. What it does not know is a word.
func tokenize(text string) (out []token) {
	text = bulletSigns.ReplaceAllString(safetext.Clean(text), "")
	question := questions.MatchString(text)
	text = strings.ReplaceAll(text, "?;", " ? ;") // it ends a question, it is no wildcard
	for _, piece := range pieces.FindAllString(text, maxTokens+1) {
		s := piece
		open, size := utf8.DecodeRuneInString(s)
		last, lastSize := utf8.DecodeLastRuneInString(s)
		switch {
		case s == "," || s == "\n":
			out = append(out, token{Kind: comma, Text: ","})
		case strings.ContainsRune("\"`“‘'", open) && strings.ContainsRune("\"`”’'", last) && len(s) > size:
			if s = strings.TrimSpace(s[size : len(s)-lastSize]); s != "" {
				out = append(out, token{quoted, s, strings.ToLower(s)})
			}
		default:
			s, ends := trimWord(s, question)
			if s != "" {
				out = append(out, newWord(s))
			}
			if ends {
				sign := "."
				if strings.HasSuffix(strings.TrimRight(piece, ".!:;)}'"), "?") {
					sign = "?"
				}
				out = append(out, token{Kind: stop, Text: sign})
			}
		}
	}
	return out
}

// newWord makes a token of a word; "openai's" is "openai".
func newWord(s string) token {
	canon := strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	if conditions.MatchString(s) {
		return token{condition, canon, canon}
	}
	if owner := strings.TrimSuffix(canon, "'s"); owner != canon && standsFor(canon) == "" {
		s, canon = s[:strings.LastIndexAny(s, "'’")], owner
	}
	return token{plain, s, canon}
}

// trimWord strips brackets and punctuation from a word and reports whether the
// punctuation ends the sentence. Inside a word it belongs to an id or a pattern.
func trimWord(s string, question bool) (word string, ends bool) {
	s = strings.TrimLeft(s, "({")
	word = strings.TrimRight(s, ".!:;)}'")
	if bare := strings.TrimRight(word, ".!:;)}'?"); question || !strings.ContainsAny(bare, "0123456789*-[/") {
		word = bare
	}
	return word, strings.ContainsAny(s[len(word):], ".!?;")
}
