package modelfilter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// maxVisible is the maximum number of characters of an id or pattern that the language
// model sees.
const maxVisible = 200

// visible returns an id or pattern for the language model: invisible characters are made
// visible, and a long text is truncated.
func visible(text string) string {
	if utf8.RuneCountInString(text) > maxVisible {
		text = string([]rune(text)[:maxVisible+1])
	}
	text = string(safetext.Visible(text))
	if utf8.RuneCountInString(text) > maxVisible {
		text = string([]rune(text)[:maxVisible-1]) + "…"
	}
	return text
}

func visibleAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = visible(t)
	}
	return out
}

// quote returns an id or pattern for use in a sentence. It is a Markdown code span, because
// an asterisk would otherwise mean emphasis.
func quote(text string) string {
	text = visible(text)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		text = " " + text + " " // required for a span that starts or ends with a backtick
	}
	return fence + text + fence
}

// decidedBy describes whether a model is hidden or shown, and by which rule.
func decidedBy(status engine.Status, rule string) string {
	if status == engine.Ignored {
		return "hidden by the ignore rule " + quote(rule)
	}
	return "shown by the allow rule " + quote(rule)
}

// quoteList quotes the first texts and counts the rest, as a list: "`a`, `b`".
func quoteList(texts []string) string {
	const most = 12
	more := ""
	if n := len(texts) - most; n > 1 {
		texts, more = texts[:most], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(quoteAll(texts), ", ") + more
}

// quoteAnd is quoteList for the middle of a sentence: "`a` and `b`".
func quoteAnd(texts []string, most int) string { return joined(quoteAll(texts), most) }

func quoteAll(texts []string) []string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = quote(t)
	}
	return quoted
}

// joined joins the first texts and counts the rest: "a, b and 3 more".
func joined(texts []string, most int) string {
	if n := len(texts); n > most+1 {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf("%d more", n-most))
	}
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// ruleType contains the names that the proxy and the assistant use for the lists.
var ruleType = [...]string{Ignore: "ignore", Allow: "whitelist"}

// displayName returns an id without its provider, as rules are usually written.
func displayName(provider, id string) string {
	if head, name, ok := strings.Cut(id, "/"); ok && head == provider {
		return name
	}
	return id
}

func displayNames(provider string, ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = visible(displayName(provider, id))
	}
	return out
}

// UnknownError is returned for a name that does not exist.
type UnknownError struct {
	What  string // "provider", "tab", "ignore rule", "allow rule" or, of the provider openai, "openai model"
	Name  string
	Near  []string // similar names, best first
	Known []string // all names; only for providers and tabs
}

// Error names what was not found, and lists similar names or, if there are none, the known ones.
func (e *UnknownError) Error() string {
	s := fmt.Sprintf("there is no %s %s", e.What, quote(e.Name))
	if e.Name == "" {
		s = "no " + e.What + " is named"
	}
	switch {
	case len(e.Near) > 0:
		s += fmt.Sprintf(". Did you mean %s?", quoteList(e.Near))
	case len(e.Known) > 0:
		s += ". Known: " + quoteList(e.Known)
	}
	return s
}

// withClause appends a clause to a sentence after a semicolon, unless the clause is "".
func withClause[S ~string](sentence, clause S) S {
	if clause == "" {
		return sentence
	}
	return sentence + "; " + clause
}

// maxNear is the maximum number of names suggested for an unknown one.
const maxNear = 5

// sourceWords describes where models come from.
var sourceWords = map[string]string{
	"live": "from the provider", "proxy": "from the proxy", "cache": "as last fetched", models.SourceCatalogue: "from the catalogue",
}

// SourceWords describes where models come from, given the source of their list; "" if
// unknown.
func SourceWords(source string) string { return sourceWords[source] }

// SourcesText describes where the models of a list come from. If there are several sources,
// it includes the number of models from each. It returns "" if unknown.
func SourcesText(list ModelList) string {
	sources := list.Sources()
	if len(sources) < 2 {
		return SourceWords(list.Source)
	}
	var parts []string
	for _, s := range sources {
		parts = append(parts, fmt.Sprintf("%d %s", s.Models, SourceWords(s.Source)))
	}
	return strings.Join(parts, ", ")
}

// sourceCounts returns the sources of a list for the language model: "live", or "proxy 2,
// catalogue 28".
func sourceCounts(list ModelList) string {
	sources := list.Sources()
	if len(sources) < 2 {
		return visible(list.Source)
	}
	var parts []string
	for _, s := range sources {
		parts = append(parts, fmt.Sprintf("%s %d", s.Source, s.Models))
	}
	return strings.Join(parts, ", ")
}

// refreshedText describes the result of a refresh.
func refreshedText(r Refreshed) safetext.Text {
	text := safetext.Sprintf("%s: %s", r.Provider, assistant.Counted(len(r.IDs), "model"))
	if from := SourcesText(r.ModelList); from != "" {
		text += safetext.Sprintf(" %s", from)
	}
	if n := len(r.New); n > 0 {
		text += safetext.Sprintf(", %d new", n)
	}
	if n := len(r.Gone); n > 0 {
		text += safetext.Sprintf(", %d gone", n)
	}
	if r.Err != "" {
		text += safetext.Sprintf(" · %s", r.Err)
	}
	return text
}

// answeredText describes how many providers answered, and which did not.
func answeredText(names []string, failed map[string]error) safetext.Text {
	what := assistant.Counted(len(names), "provider")
	if len(failed) == 0 {
		return safetext.Sprintf("%s answered", what)
	}
	const named = 3
	silent := slices.Sorted(maps.Keys(failed))
	if len(silent) == 1 {
		return safetext.Sprintf("%d of %s answered; the list of %s is unchanged", len(names)-1, what, silent[0])
	}
	lists := strings.Join(silent[:min(len(silent), named)], ", ")
	if more := len(silent) - named; more > 0 {
		lists += fmt.Sprintf(" and %d more", more)
	}
	return safetext.Sprintf("%d of %s answered; the lists of %s are unchanged", len(names)-len(failed), what, lists)
}

// RefusalText describes why a pattern was rejected. It is safe to show.
func RefusalText(err error) safetext.Text {
	r, ok := errors.AsType[*engine.Refusal](err)
	if !ok {
		return safetext.Visible(err.Error())
	}
	switch r.Reason {
	case engine.Empty:
		return "the pattern is empty"
	case engine.Duplicate:
		return safetext.Sprintf("the %s rule already exists", r.List)
	case engine.Covered:
		return safetext.Sprintf("rule “%s” already covers it", r.By[0])
	default:
	}
	return safetext.Sprintf("it cannot be saved, because it contains %s", r.Detail)
}

// savedCount is like ruleCount, for a save: it says so if rules were only removed.
func savedCount(changes []RuleChange) string {
	if len(changes) > 0 && !slices.ContainsFunc(changes, func(c RuleChange) bool { return c.Added }) {
		return "the removal of " + ruleCount(changes)
	}
	return ruleCount(changes)
}
