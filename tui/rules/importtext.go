package rules

import (
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
)

// importedRules contains patterns by list.
type importedRules [2][]string

// listWords are the words in an import that precede the patterns of a list.
var listWords = map[string]modelfilter.List{
	"ignore:": modelfilter.Ignore, "hide:": modelfilter.Ignore, "allow:": modelfilter.Allow, "whitelist:": modelfilter.Allow,
}

// parseImport parses an import: patterns separated by commas or white space. They are
// ignore rules until "allow:", or a variable of the file.
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

// String returns the number of rules in each list.
func (r importedRules) String() string {
	var parts []string
	for _, list := range [...]modelfilter.List{modelfilter.Ignore, modelfilter.Allow} {
		if n := len(r[list]); n > 0 {
			parts = append(parts, assistant.Counted(n, list.String()+" rule"))
		}
	}
	return strings.Join(parts, " and ")
}

// verbs say what a rule of a list does.
var verbs = map[modelfilter.List]string{modelfilter.Ignore: "hide", modelfilter.Allow: "allow"}
