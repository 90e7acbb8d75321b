package offline

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// argument matches `name=value` and `name="a value"` in a request for a tool.
var argument = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\S+)`)

// respondElsewhere answers in a window for which the model has no grammar: "find WORDS"
// searches, and a request that begins with the name of a tool calls it: star_pairs ids=[3]
// stars=2.
func (c *conversation) respondElsewhere() {
	said := strings.TrimSpace(strings.Replace(c.now.user, " the ", " ", 1))
	verb, words, _ := strings.Cut(said, " ")
	names := slices.Sorted(maps.Keys(c.tools))
	for _, name := range names {
		a := args{}
		switch {
		case strings.EqualFold(verb, "find") && words != "" && strings.HasPrefix(name, "search_"):
			a["query"] = words
		case verb != name && !strings.EqualFold(said, strings.ReplaceAll(name, "_", " ")):
			continue
		}
		for _, m := range argument.FindAllStringSubmatch(words, -1) {
			if a[m[1]] = m[2]; json.Valid([]byte(m[2])) {
				a[m[1]] = json.RawMessage(m[2])
			}
		}
		if r := c.result(name, a); r != nil {
			c.sayf("%s", sentence(r.message))
		}
		return
	}
	c.sayf("I have no rules for this window. %s %s", self, howToConnect)
	if len(names) > 0 {
		c.sayf("%s", bullets("Say `find` and words, or the name of a tool with its arguments, as in `list_topics`:", names))
	}
}
