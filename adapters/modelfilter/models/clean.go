package models

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"winnow/assistant"
)

const (
	// maxName is the length of a model's name in characters: the longest of
	// real ones is about half of it, and ids go into prompts.
	maxName = 200
	// maxModels is the length of a list: all models of the largest aggregators fit
	// many times.
	maxModels = 200_000
)

// usable reports whether name can be displayed, sent, and matched by a pattern,
// which is trimmed.
func usable(name string) bool {
	return name != "" && len(name) <= maxName*utf8.UTFMax &&
		utf8.RuneCountInString(name) <= maxName &&
		strings.TrimSpace(name) == name && !strings.ContainsFunc(name, unsendable)
}

// unsendable reports control characters, line ends and the replacement character of invalid UTF-8.
func unsendable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
}

// model is one entry of a list, as it is stored. The name has no provider.
type model struct {
	Name     string  `json:"name"`
	Context  int     `json:"context,omitempty"`
	PriceIn  float64 `json:"in,omitempty"`
	PriceOut float64 `json:"out,omitempty"`
	Tools    bool    `json:"tools,omitempty"`
	Reasons  bool    `json:"reasons,omitempty"`
	Images   bool    `json:"images,omitempty"`
	NoChat   bool    `json:"no_chat,omitempty"`
}

// clean turns what an endpoint answered into a list: sorted by name, each once, nothing
// unusable. prefix is the text before every name that is ours. dropped counts
// the entries left out; double ones are not counted.
func clean(infos []assistant.ModelInfo, prefix, idPrefix string) (list []model, dropped int) {
	list = make([]model, 0, len(infos))
	for _, info := range infos {
		name, ok := strings.CutPrefix(info.ID, prefix)
		name = strings.TrimPrefix(name, idPrefix)
		if !ok || !usable(name) {
			dropped++
			continue
		}
		list = append(list, model{
			Name: name, Context: max(info.Context, 0),
			PriceIn: price(info.PriceIn), PriceOut: price(info.PriceOut),
			Tools: info.Tools, Reasons: info.Reasons, Images: info.Images, NoChat: info.NoChat,
		})
	}
	return tidy(list), dropped
}

// tidy sorts list and drops all but the first of equal names.
func tidy(list []model) []model {
	slices.SortStableFunc(list, byName)
	return slices.CompactFunc(list, func(a, b model) bool { return a.Name == b.Name })
}

func byName(a, b model) int { return strings.Compare(a.Name, b.Name) }

// price is p when it can be one. Not-a-number could not be written down either.
func price(p float64) float64 {
	if p > 0 && p <= 1e9 {
		return p
	}
	return 0
}

// names lists the names in list.
func names(list []model) []string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.Name
	}
	return out
}
