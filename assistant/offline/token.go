package offline

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/assistant/safetext"
)

// tokenKind is what a token is.
type tokenKind int

// The kinds of tokens.
const (
	plain  tokenKind = iota // a word, an id or a pattern
	quoted                  // text between quotes, used as it is
	comma                   // , or a line break: joins a list or begins a request
	stop                    // ; . ! ?: ends a request; its text is "?" or "."
)

// token is one piece of the user's text.
type token struct {
	Kind  tokenKind
	Text  string // as typed, without quotes and outer punctuation
	Canon string // in lower case; for a synonym, the word that the forms use
}

// Is reports whether t is one of words, unquoted.
func (t token) Is(words ...string) bool {
	return t.Kind == plain && slices.Contains(words, t.Canon)
}

// In reports whether t is an unquoted word of the set.
func (t token) In(words map[string]bool) bool { return t.Kind == plain && words[t.Canon] }

// filler is what synonyms maps words without a meaning to.
const filler = "-"

// synonyms maps what people say to the words of the forms: the first word of
// each line stands for the others of it. "_" is a space.
var synonyms, longestPhrase = readSynonyms(`
- please pls plz kindly just simply quickly the my our a an now currently always me really finally actually maybe oops sorry
- can_you could_you would_you will_you can_we i_want_you_to i'd_like_you_to i_would_like_you_to i'd_like_to i_want_to i_need_to i_need_you_to let's tell go_ahead_and set_up_filter_so set_up_filter_so_that in_its_name in_their_name in_name although_hidden although_it_is_hidden although_it_hidden even_though_it_is_hidden even_though_it_hidden even_if_it_is_hidden even_if_it_hidden
hide block ignore disable ban exclude suppress blacklist disallow hiding blocking ignoring disabling get_rid_of filter_out stop_showing stop_exposing
hide don't_show do_not_show never_show i_don't_want i_don't_need we_don't_want we_don't_need i_do_not_want i_don't_want_to_see no_more
unhide unblock unignore enable unhiding unblocking stop_hiding stop_blocking stop_ignoring don't_hide don't_block do_not_hide do_not_block no_longer_hide bring_back
allow whitelist allowlist keep permit expose protect allowing whitelisting keeping
unallow unwhitelist stop_allowing stop_keeping no_longer_allow no_longer_keep don't_allow do_not_allow don't_keep
only only_allow only_keep only_show only_expose only_use only_want only_need i_only_want i_only_need we_only_want i_want_only allow_only keep_only show_only use_only nothing_but show_nothing_but
remove delete drop
clear reset wipe empty
undo revert take_back take_that_back take_it_back take_this_back roll_back roll_that_back roll_it_back go_back
save write commit persist store saving
discard abandon throw_away
switch select switch_to change_to go_to switch_provider_to change_provider_to
propose suggest recommend draft what_if_i what_if_we what_happens_if_i what_happens_if_we what_would_happen_if_i
refresh reload refetch update
find search look_for look_up match
what which
explain describe inspect status_of details_of details_for
users i we clients people
hidden blocked ignored disabled unavailable missing gone invisible
shown available visible exposed listed enabled
allowed whitelisted protected
useless unused unneeded unnecessary needless dead
can't cannot can_not
don't do_not does_not doesn't
should must shall
is are was were
isn't aren't is_not are_not
newest latest freshest most_recent
except excluding besides without minus unless but_not apart_from other_than except_for
yes y yep yeah proceed confirm do_it do_that go_ahead
no nope cancel nevermind never_mind forget_it leave_it
summarise summarize recap sum_up
`)

func readSynonyms(table string) (synonyms map[string]string, longest int) {
	synonyms = map[string]string{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		for _, w := range words {
			synonyms[strings.ReplaceAll(w, "_", " ")] = words[0]
			longest = max(longest, strings.Count(w, "_")+1)
		}
	}
	return synonyms, longest
}

// synonymWords lists the single words with synonyms, sorted; those without a meaning are left out.
func synonymWords() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(synonyms)), func(w string) bool { return synonyms[w] == filler || strings.Contains(w, " ") })
}

// canonical replaces synonyms, the longest phrases first, and drops what means nothing.
func canonical(tokens []token) []token {
	tokens = slices.DeleteFunc(tokens, func(t token) bool { return t.Kind == plain && synonyms[t.Canon] == filler })
	var out []token
	for i := 0; i < len(tokens); {
		t, used := tokens[i], 1
		for n := min(longestPhrase, len(tokens)-i); n > 0; n-- {
			phrase := tokens[i : i+n]
			if slices.ContainsFunc(phrase, func(t token) bool { return t.Kind != plain }) {
				continue
			}
			text := strings.Join(textsOf(phrase), " ")
			if to := synonyms[strings.ToLower(text)]; to != "" {
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

// textsOf are the texts of tokens, without commas.
func textsOf(tokens []token) []string {
	var out []string
	for _, t := range tokens {
		if t.Kind == plain || t.Kind == quoted {
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
func tokenize(text string) []token {
	text = bulletSigns.ReplaceAllString(safetext.Clean(text), "")
	question := questions.MatchString(text)
	var out []token
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
	if owner := strings.TrimSuffix(canon, "'s"); owner != canon && synonyms[canon] == "" {
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
