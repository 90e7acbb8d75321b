package offline

// Topics of a list step, kept in step.list.
const (
	topicHidden    = "hidden"
	topicAvailable = "available"
	topicAllowed   = "allowed"
	topicRules     = "rules"
	topicIgnore    = "ignore rules"
	topicAllow     = "allow rules"
	topicProviders = "providers"
	topicModels    = "models"
	topicChanges   = "changes"
)

// topicOf reads what a question is about. Rules come before states, since
// "ignore rules" names both.
func topicOf(toks []token) string {
	in := func(words string) bool { _, ok := has(toks, set(words)); return ok }
	switch {
	case in("changed changes unsaved pending modified change"):
		return topicChanges
	case in("rule rules pattern patterns ignorelist blocklist allowlist filters"):
		switch ruleList(toks) {
		case "ignore":
			return topicIgnore
		case "allow":
			return topicAllow
		}
		return topicRules
	case in("provider providers"):
		return topicProviders
	case in("hidden blocked ignored disabled unavailable"):
		return topicHidden
	case in("whitelisted whitelist allowlist allowed"):
		return topicAllowed
	case in("available visible exposed usable"):
		return topicAvailable
	}
	return ""
}

// topicWords are left out when a question names models besides its topic:
// "which mini models are hidden".
var topicWords = set("changed changes unsaved pending modified rule rules pattern patterns filter filters provider providers hidden blocked ignored disabled " +
	"unavailable whitelisted whitelist allowlist allowed available visible exposed usable are is currently now there do i have you can see were " +
	"me the ignore allow block current status overview right still being what which how many all list everything would be used does exist in effect by proxy from of")

// show reads "show|list …": a topic of the window, the details of a model, a
// rule ("show only X"), or a search.
func (s *step) show(rest []token) {
	rest = dropPlease(rest)
	if len(rest) == 0 {
		s.kind, s.list = list, topicModels
		return
	}
	if k, n := verb(rest); n > 0 {
		switch k {
		case only, verbWhat, verbWhy, details, explain, find:
			s.kind = k
			s.fill(rest[n:])
			return
		default:
		}
	}
	if last := rest[len(rest)-1]; len(rest) > 1 && last.lower == "again" {
		s.kind = unhide
		s.models(rest[:len(rest)-1])
		return
	}
	if i, ok := has(rest, set("details detail info information")); ok {
		s.kind = details
		s.what, _ = selectors(append(append([]token{}, rest[:i]...), without(rest[i+1:], set("of for on about"))...))
		return
	}
	s.topic(rest)
	if s.kind == list && s.list == topicModels && len(s.what) > 0 {
		s.kind = find
	}
}

func dropPlease(toks []token) []token { return without(toks, set("please me us")) }

// topic reads a question's topic and the models it is limited to.
func (s *step) topic(rest []token) {
	s.kind, s.list = list, topicOf(rest)
	if s.list == "" {
		s.list = topicModels
	}
	what, except := selectors(without(rest, topicWords))
	if len(what) == 1 && what[0].all && what[0].provider == "" && !what[0].newest {
		return
	}
	s.what, s.except = what, except
}

// question reads "what|which|how many …".
func (s *step) question(rest []token) {
	rest = dropPlease(rest)
	if len(rest) == 0 {
		s.kind = help
		return
	}
	if i, ok := has(rest, set("match matches matching contain contains containing")); ok {
		s.kind = find
		s.what, s.except = selectors(rest[i+1:])
		if len(s.what) == 0 { // "what does *mini* match"
			s.what, s.except = selectors(without(rest[:i], set("does do would the pattern rule models")))
		}
		return
	}
	if s.aboutRules(rest) {
		return
	}
	if topicOf(rest) != "" {
		s.topic(rest)
		return
	}
	if _, ok := has(rest, traits); ok {
		s.kind = beyond
		return
	}
	if _, ok := has(rest, set("should")); ok {
		s.kind = beyond
		return
	}
	if len(without(rest, set("model models is are the ones there"))) == 1 && rest[len(rest)-1].lower == "new" {
		s.kind, s.what = find, []selector{{all: true, newest: true}}
		return
	}
	s.kind = find
	s.what, s.except = selectors(without(rest, set("is are there do does i have you the what about we")))
	if len(s.what) == 1 && s.what[0].all && !s.what[0].newest && s.what[0].provider == "" {
		s.kind, s.list, s.what = list, topicModels, nil
		return
	}
	if i, ok := has(rest, set("is are")); ok && i == 0 && len(s.what) == 1 && !s.what[0].newest && !s.what[0].plural {
		s.kind = details // "what is gpt-4o"
	}
	if len(s.what) == 0 {
		s.kind = unknown
	}
}

// whyWords are the words of a question about a model's status.
var whyWords = set("is are isn't aren't isnt arent can can't cant cannot i see use not was were the model why does do doesn't doesnt don't dont show up appear " +
	"hidden blocked ignored disabled unavailable available visible exposed whitelisted allowed there still being currently now missing gone status in list my when by to from work works working")

// why reads "why is X hidden", "is X available".
func (s *step) why(rest []token) {
	asked := s.kind
	plain := without(rest, whyWords)
	if asked == verbIs && topicOf(rest) == topicChanges {
		s.kind, s.list = list, topicChanges
		return
	}
	if asked == verbWhy && len(rest) == 0 { // "why?", which a list before it takes up
		s.kind, s.list, s.reason = list, "", true
		return
	}
	if asked == verbIs && s.aboutRules(rest) {
		return
	}
	if s.universal(rest, plain) && topicOf(rest) != "" { // "why are models hidden", "is anything hidden"
		s.kind, s.list, s.reason = list, topicOf(rest), s.reason || asked == verbWhy
		return
	}
	s.kind = explain
	s.what, s.except = selectors(plain)
	if len(plain) == 0 || len(s.what) == 0 {
		s.what = []selector{{pronoun: true}}
	}
	if asked == verbIs && len(s.what) == 1 && s.what[0].all && s.what[0].provider == "" && topicOf(rest) != "" { // "is anything hidden"
		s.kind, s.list, s.what = list, topicOf(rest), nil
		return
	}
	if _, works := has(rest, set("work works working")); works {
		return
	}
	if asked == verbIs && len(s.what) == 1 && (s.what[0].plural || topicOf(rest) == "") && !s.what[0].pronoun {
		s.kind = find
	}
}

// universal reports a question about all models and no one in particular.
func (s *step) universal(rest, plain []token) bool {
	what, except := selectors(plain)
	if _, ok := has(rest, set("it them they those these this that")); ok {
		return false
	}
	if len(what) == 0 {
		_, ok := has(rest, set("model models"))
		return ok && len(except) == 0
	}
	return len(what) == 1 && what[0].all && what[0].provider == "" && !what[0].newest && !what[0].old && len(what[0].terms) == 0
}

// explained reads what follows "explain": models, or all of one status.
func (s *step) explained(rest []token) {
	plain := without(rest, set("for about of on status why hidden available match matches model what does do blocked"))
	if topic := topicOf(rest); (topic == topicHidden || topic == topicAvailable || topic == topicAllowed) && s.universal(nil, plain) {
		s.kind, s.list, s.reason = list, topic, true
		return
	}
	s.what, s.except = selectors(plain)
}

// The words of a question about rules.
var (
	ruleNouns  = set("rule rules pattern patterns filter filters")
	ruleDeeds  = set("hide hides hiding block blocks blocking ignore ignores allow allows allowing keep keeps match matches matching affect affects decide decides cover covers catch catches hit hits")
	idleWords  = set("nothing unused useless dead redundant unnecessary none")
	ruleFiller = set("the a any all every does do is are there which what that my of by model models list ignore allow whitelist")
)

// aboutRules reads "which rule hides X", "what does the rule P hide" and
// "which rules hide nothing".
func (s *step) aboutRules(rest []token) bool {
	at, ok := has(rest, ruleNouns)
	if !ok && (s.kind != verbWhat || len(rest) == 0) {
		return false
	}
	if _, none := has(rest, idleWords); none && ok {
		s.kind = unused
		return true
	}
	deed, does := has(rest, ruleDeeds)
	if !ok || !does {
		return false
	}
	if deed == len(rest)-1 && deed > at+1 { // "what does the rule P hide"
		if what, _ := selectors(without(rest[at+1:deed], ruleFiller)); len(what) > 0 {
			s.kind, s.what = find, what
			return true
		}
		return false
	}
	if deed > at && deed < len(rest)-1 { // "which rule hides X"
		what, except := selectors(without(rest[deed+1:], ruleFiller))
		if len(what) > 0 && !what[0].all && !what[0].pronoun {
			s.kind, s.what, s.except = explain, what, except
			return true
		}
	}
	return false
}

// withoutReason takes "and by which rule", "and what hides them" off the end
// of a question; asked reports that it was there.
func withoutReason(toks []token) (rest []token, asked bool) {
	const longest = 6
	for i := max(1, len(toks)-longest); i < len(toks); i++ {
		tail := toks[i:]
		_, which := has(tail, set("which what why"))
		_, by := has(tail[:1], set("by and because"))
		_, rule := has(tail, ruleNouns)
		if by && which && rule {
			for i > 1 && (toks[i-1].lexeme == comma || joins(toks[i-1])) {
				i--
			}
			return toks[:i], true
		}
	}
	return toks, false
}
