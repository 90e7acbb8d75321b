package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// starStep reads how many stars and what for: "star X", "star X with 2 stars",
// "give X two stars", "give 2 stars to X".
func starStep(rest []token, pairs func([]token) pairsMeant) pastStep {
	s := pastStep{verb: pastStar, stars: 1}
	for i, t := range rest {
		if t.lower != "star" && t.lower != "stars" {
			continue
		}
		from := i
		if n, ok := numberWord(at(rest, i-1)); ok && n <= 3 {
			s.stars, from = n, i-1
		}
		before, after := rest[:from], rest[i+1:]
		if n := len(before); n > 0 && before[n-1].lower == "with" {
			before = before[:n-1]
		}
		for len(after) > 0 && (after[0].lower == "to" || after[0].lower == "for") {
			after = after[1:]
		}
		rest = slices.Concat(before, after)
		break
	}
	s.which = pairs(rest)
	return s
}

func at(tokens []token, i int) string {
	if i < 0 || i >= len(tokens) {
		return ""
	}
	return tokens[i].lower
}

// numberWord reads a small number, in digits or as a word.
func numberWord(s string) (int, bool) {
	if i := slices.Index([]string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}, s); i >= 0 {
		return i, true
	}
	if s == "zero" {
		return 0, true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(s, "#"))
	return n, err == nil && n >= 0
}

// topicStep reads "put X under TOPIC", "set the topic of X to TOPIC", "take X
// out of its topic".
func topicStep(rest []token, text string, pairs func([]token) pairsMeant) pastStep {
	s := pastStep{verb: pastTopic}
	cut := -1
	for i, t := range rest {
		if t.lexeme == word && slices.Contains([]string{"under", "into", "in", "to", "as", "out", "from"}, t.lower) {
			cut = i
		}
	}
	if i := slices.IndexFunc(rest, func(t token) bool { return t.lower == "out" }); i >= 0 {
		s.which = pairs(rest[:i])
		return s
	}
	if cut < 0 {
		return pastStep{}
	}
	s.topic = pathOf(rest[cut+1:], text)
	if s.topic == "" {
		return pastStep{}
	}
	head := rest[:cut]
	if len(head) > 1 && slices.ContainsFunc(head[:min(len(head), 2)], func(t token) bool { return t.lower == "topic" }) {
		head = leaving(head, "topic", "of", "for")
	}
	s.which = pairs(head)
	return s
}

// pathStep reads a topic and what it becomes.
func pathStep(verb pastVerb, rest []token, text string, between ...string) pastStep {
	cut := slices.IndexFunc(rest, func(t token) bool { return t.lexeme == word && slices.Contains(between, t.lower) })
	if cut < 0 {
		return pastStep{}
	}
	return pastStep{verb: verb, topic: pathOf(rest[:cut], text), to: pathOf(rest[cut+1:], text)}
}

// pathOf is the path of a topic that tokens spell. text is the message: what
// stands between the names of a path is no token.
func pathOf(tokens []token, text string) string {
	var words, forms []string
	for _, t := range leaving(tokens, "topic", "the") {
		if t.lexeme != comma {
			words = append(words, t.text)
			forms = append(forms, regexp.QuoteMeta(t.text))
		}
	}
	path := strings.Join(words, " ")
	if typed := regexp.MustCompile(strings.Join(forms, `\s*>?\s*`)).FindString(text); len(words) > 1 && typed != "" {
		path = typed
	}
	var names []string
	for name := range strings.SplitSeq(path, ">") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, " > ")
}

// saveStep reads "save line LINE as NAME".
func saveStep(rest []token, line string) pastStep {
	i := strings.LastIndex(line, " as ")
	if i < 0 {
		return pastStep{}
	}
	return pastStep{verb: pastSave, which: pairsMeant{line: strings.TrimSpace(strings.Trim(line[:i], "`"))}, name: strings.TrimPrefix(lastText(rest), "@")}
}
