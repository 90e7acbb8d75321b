package offline

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// kind is what a request wants.
type kind int

const (
	unknown kind = iota
	hide
	unhide
	allow
	only
	remove // remove the rule that is written just so, or hide
	removeRule
	unallow // removeRule of the allow list
	clearRules
	undo
	save
	discard
	switchTo
	refresh
	propose
	explain
	listModels
	countModels
	find
	showRules
	listProviders
	lastChanges
	why      // the reasons for what the previous request was about
	followUp // "and nano too": the previous request with other models or providers
	help
	defineGlob
	connect
	greet
	thanks
	yes
	no

	// The requests about the chat history.
	findPairs
	starPairs
	unstarPairs
	flagPairs
	unflagPairs
	topicPairs
	summarisePairs
	listTopics
)

// changesRules reports whether requests of the kind may add or remove rules.
func (k kind) changesRules() bool { return k >= hide && k <= clearRules }

// isQuestion reports whether the kind is about models and changes nothing.
func (k kind) isQuestion() bool { return k >= explain && k <= find }

// selects reports whether the kind is about models or the rules of providers, so
// that a follow-up can continue it.
func (k kind) selects() bool { return k.changesRules() || k.isQuestion() || k == showRules }

// form is one way to say a request. In text, a|b are alternatives, [x] may be
// missing, and a $slot takes the words that slots has for it. The other words are
// those that synonyms maps to.
type form struct {
	kind kind
	text string
}

// slots maps each slot to what it takes, each word with a space after it.
var slots = map[string]string{
	"list": "(?:hide|allow) ", "state": "(?:hidden|shown|allowed) ", "n": `\S+ `,
	"what": `(?:\S+ )+?`, "where": `(?:\S+ )+?`, "at": `(?:on|from|for|at|in|of|across) (?:\S+ )+?`, // models; providers
	"clause": `(?:\S+ )+?`, "pairs": `(?:\S+ )+?`, "topic": `(?:\S+ )+?`,
}

// talkForms are understood in every window.
var talkForms = []form{
	{undo, "undo [that|it|this|last|newest|previous|your] [change|changes]"},
	{help, "help"},
	{help, "what can you|users do|say|ask"},
	{help, "who|what is you"},
	{connect, "how do|can users connect [llm|model|one|language|real|another] [model]"},
	{connect, "connect|use [real|language|other|another] model|llm"},
	{connect, "is you llm|real|ai|human|language [model]"},
	{greet, "hi|hello|hey|good [morning|evening|day]"},
	{thanks, "thanks|thx|thank|great|perfect [you]"},
	{yes, "yes|ok|okay|sure"},
	{no, "no|don't|stop"},
}

// filterForms are the requests about the model filter. Of the forms that match,
// the first without words left over counts.
var filterForms = compileOnce(slices.Concat([]form{
	{undo, "undo [last|newest|previous|your] $n [changes|change|steps|requests|messages]"},
	{save, "save [it|them|that|this|all|everything] [changes|rules] [to] [file|disk|.env]"},
	{discard, "discard [all|it|them] [unsaved] [changes|everything]"},
	{switchTo, "switch|use|open [provider] $where"},
	{refresh, "refresh [all] [models|model] [list|lists] [$at]"},
	{propose, "propose [rules] [for|to|that] $clause"},

	{clearRules, "clear|remove [all] [$list] rules [$at]"},
	{clearRules, "clear $list [list] [$at]"},
	{removeRule, "remove [$list] rule|rules $what"},
	{unallow, "unallow $what"},
	{removeRule, "remove|take $what [$list] rule|rules [$at]"},
	{removeRule, "remove|take $what from|off $list [list|rules] [$at]"},

	{lastChanges, "what did you do|change|add|remove"},
	{lastChanges, "what have you done|changed"},
	{showRules, "show|list|what [all] [is] [$list] rules [is] [there] [$at]"},
	{showRules, "[$list] rules [$at]"},
	{listProviders, "show|list|what [all] [is] providers [is] [there]"},
	{listProviders, "providers"},
	{defineGlob, "what is|does glob|globs|wildcard|wildcards|pattern|patterns [mean]"},

	{why, "why [is] [that|it|this|they|those]"},
	{listModels, "what|show|list [$what] is $state [$at]"},
	{listModels, "show|list [all] $state [$what]"},
	{listModels, "is [there] anything|any [models] $state [$at]"},
	{countModels, "how many models does|do $where have"},
	{countModels, "how many [$what] [is] [there|hidden|shown] [$at]"},
	{find, "what [models] does|do $where have"},
	{explain, "why is|isn't $what [not] $state"},
	{explain, "why can't|can|do|don't users|they [not] see|use|find|get $what"},
	{explain, "users|they can't|don't see|use|find|get $what"},
	{explain, "is|isn't $what [not] $state"},
	{explain, "what rule hides|hide|allows|allow|decides $what"},
	{explain, "explain|why $what"},
	{explain, "what about $what"},

	{allow, "make sure [that] $what is|stays|stay|remains shown|allowed"},
	{only, "only $what [should] is|be|stay shown|allowed"},
	{only, "only $what"},
	{hide, "hide $what"},
	{hide, "$what should be hidden"},
	{hide, "$what should not be shown"},
	{hide, "make $what hidden"},
	{hide, "add|put $what to|on|in hide [list|rules] [$at]"},
	{hide, "add|create hide rule|rules [for] $what"},
	{unhide, "unhide $what"},
	{unhide, "bring $what back"},
	{unhide, "show $what again"},
	{unhide, "make $what shown [again]"},
	{allow, "allow $what"},
	{allow, "$what should be|stay|remain shown|allowed"},
	{allow, "add|put $what to|on|in allow [list|rules] [$at]"},
	{allow, "add|create allow rule|rules [for] $what"},
	{remove, "remove $what"},

	{find, "find $what"},
	{find, "what|show|list $what [is] [there]"},
}, talkForms, []form{{hide, "no $what"}}))

// historyForms are the requests about the chat history.
var historyForms = compileOnce(slices.Concat([]form{
	{listTopics, "list|show|what [is] topics [is] [there]"},
	{starPairs, "star $pairs with $n stars|star"},
	{starPairs, "give $n stars|star to $pairs"},
	{starPairs, "give $pairs $n stars|star"},
	{starPairs, "star $pairs"},
	{unstarPairs, "unstar $pairs"},
	{unstarPairs, "remove|take star|stars from|off $pairs"},
	{flagPairs, "flag $pairs"},
	{unflagPairs, "unflag $pairs"},
	{unflagPairs, "remove|take flag|flags from|off $pairs"},
	{topicPairs, "put|move|file|tag $pairs under|into|in|to|as $topic"},
	{topicPairs, "set topic of|for $pairs to $topic"},
	{topicPairs, "take|remove $pairs out of|from its|their topic"},
	{summarisePairs, "summarise $pairs"},
	{findPairs, "find|show|list|read|open [for] $pairs"},
	{findPairs, "what|where did|have|do|does $pairs"},
}, talkForms))

// formSet is compiled forms and the words with which they can begin.
type formSet struct {
	forms  []compiledForm
	starts map[string]bool
}

type compiledForm struct {
	kind    kind
	pattern *regexp.Regexp
}

// compileOnce compiles forms when they are first needed, because it would delay the
// start of the program by milliseconds.
func compileOnce(forms []form) func() formSet {
	return sync.OnceValue(func() formSet { return compile(forms) })
}

func compile(forms []form) formSet {
	set := formSet{starts: map[string]bool{}}
	for _, f := range forms {
		pattern, starts := "^", true
		for w := range strings.FieldsSeq(f.text) {
			part, isOptional := strings.CutPrefix(strings.TrimSuffix(w, "]"), "[")
			if slot, isSlot := strings.CutPrefix(part, "$"); isSlot {
				part = "(?P<" + slot + ">" + slots[slot] + ")"
			} else {
				for alternative := range strings.SplitSeq(part, "|") {
					set.starts[alternative] = set.starts[alternative] || starts
				}
				part = "(?:" + strings.ReplaceAll(part, ".", `\.`) + ") "
			}
			if pattern += "(?:" + part + ")"; isOptional {
				pattern += "?"
			}
			starts = starts && isOptional
		}
		set.forms = append(set.forms, compiledForm{f.kind, regexp.MustCompile(pattern + "$")})
	}
	return set
}

// span is the part of a request that a slot takes.
type span struct {
	slot   string
	tokens []token
}

// match returns the slots of a form that tokens fit; ok is false when they do not.
func (f compiledForm) match(tokens []token) (spans []span, ok bool) {
	var text strings.Builder
	for _, t := range tokens {
		w := t.canon
		if t.kind != plain {
			w = "," // no form names it
		}
		text.WriteString(w + " ")
	}
	at := f.pattern.FindStringSubmatchIndex(text.String())
	for i, slot := range f.pattern.SubexpNames() {
		if at != nil && slot != "" && at[2*i] >= 0 {
			from, to := strings.Count(text.String()[:at[2*i]], " "), strings.Count(text.String()[:at[2*i+1]], " ")
			spans = append(spans, span{slot, tokens[from:to]})
		}
	}
	return spans, at != nil
}
