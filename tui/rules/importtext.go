package rules

import (
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
)

// importedRules contains the patterns of an import, by list.
type importedRules [2][]string

// listWords are the words that precede the patterns of a list in an import.
var listWords = map[string]modelfilter.List{
	"ignore:": modelfilter.Ignore, "hide:": modelfilter.Ignore, "allow:": modelfilter.Allow, "whitelist:": modelfilter.Allow,
}

// parseImport parses an import: patterns separated by commas or white space. They are
// ignore rules until a word of listWords, such as "allow:", or a variable of the file, such
// as WHITELIST_MODELS_…, selects the list.
func parseImport(text string) importedRules {
	var rules importedRules
	list := modelfilter.Ignore
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(", \n\t\r", r) }) {
		if key, value, ok := strings.Cut(word, "="); ok {
			switch {
			case strings.HasPrefix(key, "IGNORE_MODELS_"):
				list, word = modelfilter.Ignore, value
			case strings.HasPrefix(key, "WHITELIST_MODELS_"):
				list, word = modelfilter.Allow, value
			}
		}
		if to, ok := listWords[strings.ToLower(word)]; ok {
			list = to
			continue
		}
		if word = strings.Trim(word, `"'`); word != "" && word != "export" {
			rules[list] = append(rules[list], word)
		}
	}
	return rules
}

// Len returns the number of rules in both lists.
func (r importedRules) Len() int { return len(r[0]) + len(r[1]) }

// String describes the number of rules in each list.
func (r importedRules) String() string {
	var parts []string
	for _, list := range [...]modelfilter.List{modelfilter.Ignore, modelfilter.Allow} {
		if n := len(r[list]); n > 0 {
			parts = append(parts, assistant.Counted(n, list.String()+" rule"))
		}
	}
	return strings.Join(parts, " and ")
}

// verbs say what the rules of a list do.
var verbs = map[modelfilter.List]string{modelfilter.Ignore: "hide", modelfilter.Allow: "allow"}
