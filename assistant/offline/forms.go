package offline

import (
	"slices"
	"strings"
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
	listModels
	countModels
	showRules
	redundantRules // those that decide no model
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
func (k kind) isQuestion() bool { return k == listModels || k == countModels }

// isAboutRules reports whether requests of the kind name rules, not models.
func (k kind) isAboutRules() bool {
	return k == clearRules || k == showRules || k == redundantRules || k == removeRule
}

// selects reports whether the kind is about models or the rules of providers, so
// that a follow-up can continue it.
func (k kind) selects() bool {
	return k.changesRules() || k.isQuestion() || k == showRules || k == redundantRules
}

// form is one way to say a request. In text, a|b are alternatives, [x] may be
// missing, and a $slot stands for the words that accepts describes. The other words are those
// that synonyms maps to.
type form struct {
	kind kind
	text string
}

// talkForms are understood in every window.
var talkForms = []form{
	{undo, "undo [that|it|this|last|newest|previous|your] [change|changes]"},
	{help, "help"},
	{help, "what [can] [you|users] do|say|ask"},
	{help, "who|what|how is you"},
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
var filterForms = slices.Concat(talkForms, []form{
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

	{lastChanges, "what did|have you do|done|change|changed|add|remove"},
	{showRules, "show|list|what [all] [is] [$list] rules [is] [there] [$at]"},
	{showRules, "[$list] rules [$at]"},
	{redundantRules, "show|list|find|what|is [all] [is] [there] [any] [$list] rules [is] redundant|superfluous|useless [$at]"},
	{redundantRules, "show|list|find|what|is [all] [is] [there] [any] redundant|superfluous|useless [$list] rules [is] [there] [$at]"},
	{redundantRules, "redundant|superfluous|useless rules [$at]"},
	{redundantRules, "clean|tidy up [$list] rules [$at]"},
	{listProviders, "show|list|what [all] [is] providers [is] [there]"},
	{listProviders, "providers"},
	{defineGlob, "what is|does glob|globs|wildcard|wildcards|pattern|patterns [mean]"},

	{why, "why [is] [that|it|this|they|those]"},
	{listModels, "what|show|list [$what] is $state [$at]"},
	{listModels, "show|list [all] $state [$what]"},
	{listModels, "is [there] anything|any [models] $state [$at]"},
	{countModels, "how many models does|do $where have"},
	{countModels, "how many [$what] [is] [there|hidden|shown] [$at]"},
	{listModels, "what [models] does|do $where have"},
	{listModels, "why can't|can|do|don't users|they [not] see|use|find|get $what"},
	{listModels, "users|they can't|don't see|use|find|get $what"},
	{listModels, "[why] is|isn't $what [not] hidden|shown|allowed"},
	{listModels, "what rule hides|hide|allows|allow|decides $what"},
	{listModels, "explain|why $what"},
	{listModels, "what about $what"},

	{allow, "make sure [that] $what is|stays|stay|remains shown|allowed"},
	{only, "only $what [should|to] is|be|stay shown|allowed"},
	{only, "only $what"},
	{hide, "hide|no $what"},
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

	{listModels, "find $what"},
	{listModels, "what|show|list $what [is] [there]"},
})

// historyForms are the requests about the chat history.
var historyForms = slices.Concat([]form{
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
}, talkForms)

// fit is the tokens that a part of a form stands for.
type fit struct {
	part   string
	tokens []token
}

// match fits tokens to the parts of a form, each with as few tokens as possible;
// ok is false when they do not fit.
func match(parts []string, tokens []token) (matched []fit, ok bool) {
	if len(parts) == 0 {
		return nil, len(tokens) == 0
	}
	part, isOptional := partOf(parts[0])
	for n := 1; n <= len(tokens); n++ {
		fits, fitsMore := accepts(part, tokens[:n])
		if fits {
			if rest, ok := match(parts[1:], tokens[n:]); ok {
				return append([]fit{{part, tokens[:n]}}, rest...), true
			}
		}
		if !fitsMore {
			break
		}
	}
	if isOptional {
		return match(parts[1:], tokens)
	}
	return nil, false
}

func partOf(text string) (part string, isOptional bool) {
	return strings.CutPrefix(strings.TrimSuffix(text, "]"), "[")
}

// accepts reports whether a part stands for just these tokens, and whether it may stand
// for more.
func accepts(part string, tokens []token) (fits, fitsMore bool) {
	switch part {
	case "$list":
		part = "hide|allow"
	case "$state":
		part = "hidden|shown|allowed"
	case "$n":
		return true, false
	case "$at": // providers
		return len(tokens) > 1, tokens[0].Is("on", "from", "for", "at", "in", "of", "across")
	case "$what", "$where", "$clause", "$pairs", "$topic":
		return true, true
	}
	return tokens[0].Is(strings.Split(part, "|")...), false
}

// begins reports whether a request of one of the forms can begin with t.
func begins(forms []form, t token) bool {
	return slices.ContainsFunc(forms, func(f form) bool {
		for text := range strings.FieldsSeq(f.text) {
			part, isOptional := partOf(text)
			if fits, _ := accepts(part, []token{t}); fits && !strings.HasPrefix(part, "$") {
				return true
			}
			if !isOptional {
				break
			}
		}
		return false
	})
}
