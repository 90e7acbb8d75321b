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
	if topicOf(rest) != "" {
		s.topic(rest)
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
