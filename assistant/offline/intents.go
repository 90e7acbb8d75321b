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
	unallow
	only
	remove // hide, or remove the rule that is written just so
	removeRule
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
	unusedRules
	listProviders
	whatChanged
	whatDone
	why // the reasons for what the request before was about
	define
	followUp // "and nano too": the request before with other models or providers
	help
	connect
	greet
	thanks
	yes
	no
)

// form is one way to say an intent. In text, a|b are alternatives, [x] may be
// missing, and $slots take what the words between leave: $what models, $where
// providers, $rule rules, $n how many, $clause another request. Words of
// fillers never stand in it.
type form struct {
	kind kind
	arg  string // the rule list or the status meant
	text string
}

// filterForms are the requests about the model filter. Where several forms
// match, the first one without words left over counts.
var filterForms = compile([]form{
	{undo, "", "undo|revert [that|it|this|last|latest|previous|your] [change|changes|one|step]"},
	{undo, "", "undo|revert [last|latest|previous|your] [last|latest] $n [changes|change|steps|requests|times]"},
	{undo, "", "take that|it|this back"},
	{undo, "", "roll back"},
	{undo, "", "go back"},
	{undo, "", "roll that|it back"},
	{save, "", "save|write|commit|persist|store|saving [it|them|that|this|all|everything] [changes|rules|change|file] [to] [file|disk|.env]"},
	{discard, "", "discard|abandon|drop|forget|cancel [all] [unsaved] changes|everything"},
	{discard, "", "discard"},
	{discard, "", "throw [it|them|all|everything] [unsaved] [changes] away"},
	{switchTo, "", "switch|change|go [provider] to [provider] $where"},
	{switchTo, "", "use|open|select [provider] $where"},
	{refresh, "", "refresh|reload|refetch|update [all] [models|model] [list|lists] [$where]"},
	{propose, "", "propose|suggest|recommend|draft [rules] [for|to|that] $clause"},
	{propose, "", "what would|will|happens happen if i|we|you $clause"},
	{propose, "", "what if|happens if i|we|you $clause"},
	{propose, "", "what if i|we|you $clause"},

	{clearRules, "ignore", "clear|remove|delete|drop|reset|wipe [all] ignore|hide|block rules [$where]"},
	{clearRules, "allow", "clear|remove|delete|drop|reset|wipe [all] allow|whitelist rules [$where]"},
	{clearRules, "ignore", "clear|empty|reset|wipe ignore|block list|rules [$where]"},
	{clearRules, "allow", "clear|empty|reset|wipe whitelist|allowlist [$where]"},
	{clearRules, "allow", "clear|empty|reset|wipe allow list [$where]"},
	{clearRules, "", "clear|remove|delete|drop|reset|wipe [all] rules [$where]"},
	{removeRule, "ignore", "remove|delete|drop ignore rule|rules $rule"},
	{removeRule, "allow", "remove|delete|drop allow|whitelist rule|rules $rule"},
	{removeRule, "", "remove|delete|drop rule|rules $rule"},
	{removeRule, "ignore", "remove|delete|drop $rule ignore rule|rules [$where]"},
	{removeRule, "allow", "remove|delete|drop $rule allow|whitelist rule|rules [$where]"},
	{removeRule, "", "remove|delete|drop $rule rule|rules [$where]"},
	{removeRule, "ignore", "remove|delete|take $rule from|off ignore|block list [$where]"},
	{unallow, "", "remove|delete|take $what from|off whitelist|allowlist"},
	{unallow, "", "remove|delete|take $what from|off allow list"},
	{unallow, "", "unallow|unwhitelist $what"},
	{unallow, "", "stop allowing|whitelisting|keeping $what"},
	{unallow, "", "no longer allow|keep $what"},
	{unallow, "", "do not allow|keep $what"},
	{unallow, "", "don't allow|keep $what"},

	{whatDone, "", "what did you do|change|add|remove"},
	{whatDone, "", "what have you done|changed|added"},
	{whatDone, "", "what was that"},
	{whatChanged, "", "what has|is changed|unsaved|different"},
	{whatChanged, "", "what changed"},
	{whatChanged, "", "show|list changes"},
	{unusedRules, "", "which rules hide|match|decide|do|touch nothing [$where]"},
	{unusedRules, "", "which rules are unused|dead|useless [$where]"},
	{unusedRules, "", "are there unused|dead|useless rules [$where]"},
	{unusedRules, "", "are there any unused|dead|useless rules [$where]"},
	{showRules, "ignore", "show|list|display|which|what [all] [are] ignore|block rules [are] [there] [$where]"},
	{showRules, "allow", "show|list|display|which|what [all] [are] allow|whitelist rules [are] [there] [$where]"},
	{showRules, "", "show|list|display|which|what [all] [are] rules [are] [there] [$where]"},
	{showRules, "", "rules [$where]"},
	{listProviders, "", "show|list|display|which|what [all] [are] providers [are] [there]"},
	{listProviders, "", "providers"},
	{define, "glob", "what is|are glob|globs|wildcard|wildcards|pattern|patterns"},
	{define, "glob", "what does glob|wildcard|pattern mean"},
	{define, "rules", "what is|are ignore|allow|whitelist|block rule|rules"},
	{define, "rules", "what is|are whitelist|rule|rules"},
	{define, "rules", "what does hidden|hide|allowed|allow|shown mean"},
	{define, "rules", "what is difference between ignore|hide and allow|whitelist [rules]"},
	{define, "provider", "what is|are provider|providers"},

	{why, "", "why [is] [that|it|this]"},
	{why, "", "why are|is they|those|these"},
	{why, "", "why are [models] hidden"},
	{why, "", "by|because of which rule|rules"},
	{why, "", "how come"},
	{why, "", "because of what"},
	{listModels, "hidden", "is|are [there] anything|something|any [models] hidden|blocked|ignored|unavailable [$where]"},
	{listModels, "hidden", "explain|show|list all hidden|blocked models [$where]"},
	{listModels, "hidden", "what|which|list|show [$what] are|is|were [currently] hidden|blocked|ignored|disabled|unavailable|missing [$where]"},
	{listModels, "hidden", "show|list|display [all] hidden|blocked|ignored [$what]"},
	{listModels, "hidden", "what|which hidden models are there [$where]"},
	{listModels, "shown", "what|which|list|show [$what] are|is [still] available|visible|shown|exposed|left [$where]"},
	{listModels, "shown", "show|list|display [all] available|visible|shown [$what]"},
	{listModels, "allowed", "what|which|list|show [$what] are|is [always] allowed|whitelisted|protected [$where]"},
	{countModels, "", "how many $what are|is hidden|blocked|ignored|available|visible|shown|allowed|there [$where]"},
	{countModels, "", "how many does $where have"},
	{countModels, "", "how many models does $where have"},
	{countModels, "", "how many are hidden|blocked|available|visible|shown|there [$where]"},
	{countModels, "", "how many|much $what"},
	{countModels, "", "count $what"},
	{countModels, "", "how many"},
	{find, "", "what|which [models] does|do $where have|offer|serve"},
	{explain, "", "why|explain [why] is|are|isn't|aren't|was $what [not] hidden|blocked|ignored|shown|available|visible|allowed|missing|unavailable|gone|exposed"},
	{explain, "", "why [is] $what hidden|blocked|ignored|shown|available|visible|allowed|missing|unavailable|gone"},
	{explain, "", "why can't|cannot i|we|users|clients|people|they see|use|find|get $what"},
	{explain, "", "why can i|we|users|clients|they not see|use|find $what"},
	{explain, "", "why do|don't|does|doesn't i|we|users|clients|they [not] see $what"},
	{explain, "", "i|we|users|clients|people|they can't|cannot|don't see|use|find|get $what"},
	{explain, "", "i|we|users|clients|people|they can not see|use|find $what"},
	{explain, "", "is|are $what hidden|blocked|ignored|shown|available|visible|allowed|exposed"},
	{explain, "", "can|can't i|we|users|clients see|use $what"},
	{explain, "", "which|what rule|rules hides|hide|blocks|block|allows|allow|decides|decide $what"},
	{explain, "", "does|do $what work"},
	{explain, "", "explain|describe|inspect $what"},
	{explain, "", "status|details|info of|for|about|on $what"},
	{explain, "", "show|get details|status of|for|about|on $what"},
	{explain, "", "what about $what"},
	{explain, "", "what happened to|with $what"},
	{explain, "", "tell about $what"},
	{explain, "", "where is|are $what"},
	{find, "", "what|which does rule|pattern $what match|hide"},
	{find, "", "what does rule|pattern $what match|hide"},

	{allow, "", "make sure [that] $what is|are|stays|stay|remains|remain [always] available|visible|shown|exposed"},
	{only, "", "only allow|show|keep|expose|use|want|need|have|leave $what"},
	{only, "", "i|we only want|need|use [to] [see|use] $what"},
	{only, "", "i|we want|need [to] [see|use] only $what"},
	{only, "", "allow|show|keep|expose|leave|have|use only $what"},
	{only, "", "only $what are|is|should [be] available|visible|shown|allowed|exposed"},
	{only, "", "[show|allow|keep] nothing but $what"},
	{only, "", "only $what"},

	{hide, "", "hide|block|ignore|disable|ban|exclude|suppress|deny|blacklist|disallow|hiding|blocking|ignoring|disabling|mute $what"},
	{hide, "", "get rid of $what"},
	{hide, "", "filter out $what"},
	{hide, "", "turn|switch off $what"},
	{hide, "", "turn|switch $what off"},
	{hide, "", "stop|quit showing|exposing|listing $what"},
	{hide, "", "don't|never show|expose|list $what"},
	{hide, "", "do not show|expose|list $what"},
	{hide, "", "i|we don't|dont want|need [to] [see] $what"},
	{hide, "", "i|we do not want|need [to] [see] $what"},
	{hide, "", "no more $what"},
	{hide, "", "$what should|must|shall be hidden|blocked|ignored"},
	{hide, "", "$what should|must|shall not be shown|visible|available|exposed"},
	{hide, "", "make|set $what hidden|invisible|unavailable"},
	{hide, "", "add|put $what to|on|in|into ignore|block list|rules [$where]"},
	{hide, "", "add|create ignore|block rule|rules for $what"},
	{hide, "", "add|create ignore|block rule|rules $what"},
	{hide, "", "add $what as ignore rule|rules"},

	{unhide, "", "unhide|unblock|unignore|reenable|re-enable|enable|unhiding|unblocking $what"},
	{unhide, "", "stop hiding|blocking|ignoring $what"},
	{unhide, "", "don't hide|block|ignore $what"},
	{unhide, "", "do not hide|block|ignore $what"},
	{unhide, "", "no longer hide|block|ignore $what"},
	{unhide, "", "bring back $what"},
	{unhide, "", "bring $what back"},
	{unhide, "", "turn|switch on $what"},
	{unhide, "", "turn|switch $what on"},
	{unhide, "", "show $what again"},
	{unhide, "", "make $what available|visible|shown [again]"},
	{allow, "", "$what should|must|shall [always] be|stay|remain [always] available|visible|shown|allowed|exposed"},
	{allow, "", "always show|allow|keep|expose $what"},
	{allow, "", "allow|whitelist|keep|permit|expose|protect|allowing|whitelisting|keeping|exposing $what"},
	{allow, "", "add|put $what to|on|in|into whitelist|allowlist"},
	{allow, "", "add|put $what to|on|in|into allow list|rules"},
	{allow, "", "add|create allow|whitelist rule|rules for $what"},
	{allow, "", "add|create allow|whitelist rule|rules $what"},
	{remove, "", "remove|delete|drop $what"},

	{find, "", "find|search|match $what"},
	{find, "", "search|look for $what"},
	{find, "", "look up $what"},
	{find, "", "[show|list] what|which [models] match|matches|contain|contains $what"},
	{find, "", "which|what $what are there"},
	{find, "", "show|list|display $what"},

	{connect, "", "how do|can i connect|use|add|configure language|real|other|another model|llm"},
	{connect, "", "connect|use real|language|other|another model"},
	{help, "", "help"},
	{help, "", "what can you|i do|say|ask"},
	{help, "", "who|what are you"},
	{help, "", "how does this|it|that work"},
	{help, "", "commands"},
	{connect, "", "are you llm|model|real|ai|human|gpt"},
	{connect, "", "are you language model"},
	{help, "", "what do you do|understand|know"},
	{greet, "", "hi|hello|hey|hallo|greetings"},
	{greet, "", "good morning|evening|afternoon|day"},
	{thanks, "", "thanks|thx|cheers|great|perfect|nice|cool"},
	{thanks, "", "thank you"},
	{thanks, "", "well done"},
	{yes, "", "yes|y|yep|yeah|sure|ok|okay|proceed|confirm|confirmed [do] [it]"},
	{yes, "", "do it|that"},
	{yes, "", "go ahead"},
	{no, "", "no|nope|cancel|nevermind|stop|don't"},
	{no, "", "never mind"},
	{no, "", "do not"},
	{no, "", "forget|leave it"},
	{hide, "", "no $what"},
})

// element is one compiled part of a form.
type element struct {
	words    []string // alternatives; nil for a slot
	slot     string   // "what", "where", "rule", "n", "clause"
	optional bool
}

type compiledForm struct {
	form
	elements []element
}

func compile(forms []form) []compiledForm {
	out := make([]compiledForm, len(forms))
	for i, f := range forms {
		out[i].form = f
		for w := range strings.FieldsSeq(f.text) {
			e := element{optional: strings.HasPrefix(w, "[")}
			if w = strings.Trim(w, "[]"); strings.HasPrefix(w, "$") {
				e.slot = w[1:]
			} else {
				e.words = strings.Split(w, "|")
			}
			out[i].elements = append(out[i].elements, e)
		}
	}
	return out
}

// starters are the words that a form can begin with.
func starters(forms []compiledForm) map[string]bool {
	out := map[string]bool{}
	for _, f := range forms {
		for _, e := range f.elements {
			for _, w := range e.words {
				out[w] = true
			}
			if !e.optional {
				break
			}
		}
	}
	return out
}

// span is the part of a clause that a slot takes.
type span struct {
	slot   string
	tokens []token
}

// match finds the ways in which tokens fit elements and hands the slots of each
// to accept until that returns true.
func match(elements []element, tokens []token, spans []span, accept func([]span) bool) bool {
	if len(elements) == 0 {
		return len(tokens) == 0 && accept(spans)
	}
	e, rest := elements[0], elements[1:]
	if e.slot == "" {
		if len(tokens) > 0 && tokens[0].is(e.words...) && match(rest, tokens[1:], spans, accept) {
			return true
		}
	} else if len(rest) == 0 { // the last slot takes all
		if len(tokens) > 0 && accept(append(slices.Clone(spans), span{e.slot, tokens})) {
			return true
		}
	} else {
		for n := len(tokens); n > 0; n-- {
			if match(rest, tokens[n:], append(slices.Clone(spans), span{e.slot, tokens[:n]}), accept) {
				return true
			}
		}
	}
	return e.optional && match(rest, tokens, spans, accept)
}
