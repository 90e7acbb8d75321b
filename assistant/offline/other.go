package offline

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// argument finds `name=value` and `name="a value"` in a request for a tool.
var argument = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\S+)`)

// respondElsewhere answers in a window without rules of its own: "find WORDS" searches, and a
// request that begins with the name of a tool calls it: star_pairs ids=[3] stars=2.
func (c *conversation) respondElsewhere() {
	said := strings.TrimSpace(strings.Replace(c.now.user, " the ", " ", 1))
	verb, rest, _ := strings.Cut(said, " ")
	names := slices.Sorted(maps.Keys(c.tools))
	for _, name := range names {
		a := args{}
		switch {
		case strings.EqualFold(verb, "find") && rest != "" && strings.HasPrefix(name, "search_"):
			a["query"] = rest
		case verb == name, strings.ToLower(said) == strings.ReplaceAll(name, "_", " "):
			for _, m := range argument.FindAllStringSubmatch(rest, -1) {
				var v any
				if json.Unmarshal([]byte(m[2]), &v) != nil {
					v = m[2]
				}
				a[m[1]] = v
			}
		default:
			continue
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
