package condition

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"winnow/adapters/modelfilter/usage"
	"winnow/assistant/llm"
	"winnow/assistant/nearest"
)

// Model is a model with what is currently known about it.
type Model struct {
	Info     llm.ModelInfo
	Use      usage.Use
	UseKnown bool // if false, Use is unknown
	Hidden   bool // hidden by the rules
	Allowed  bool // shown by an allow rule
	New      bool // first listed after the user last looked
}

// Answer is whether a condition holds for a model.
type Answer int8

// The answers. The zero value is Unknown.
const (
	Unknown Answer = iota
	No
	Yes
)

func answerOf(yes bool) Answer {
	if yes {
		return Yes
	}
	return No
}

// not exchanges Yes and No.
func (a Answer) not() Answer {
	switch a {
	case Yes:
		return No
	case No:
		return Yes
	default:
		return Unknown
	}
}

// Condition selects models. The zero value matches every model.
type Condition struct {
	words []word
}

// word is one word of a condition.
type word struct {
	text    string // canonical, without the "!"
	negated bool
	match   func(*Model, time.Time) Answer
}

// Empty reports whether the condition has no words and so matches every model.
func (c Condition) Empty() bool { return len(c.words) == 0 }

// String returns the condition in canonical form. Parse reads it as the same condition, except that a
// word of a search then distinguishes case.
func (c Condition) String() string {
	texts := make([]string, len(c.words))
	for i, w := range c.words {
		if texts[i] = w.text; w.negated {
			texts[i] = "!" + w.text
		}
	}
	return strings.Join(texts, " ")
}

// Match reports whether the condition holds for m at the time now.
func (c Condition) Match(m *Model, now time.Time) Answer {
	all := Yes
	for _, w := range c.words {
		answer := w.match(m, now)
		if w.negated {
			answer = answer.not()
		}
		switch answer {
		case No:
			return No
		case Unknown:
			all = Unknown
		default:
		}
	}
	return all
}

// Error reports a word that cannot be parsed.
type Error struct {
	Column int    // in characters, from 1
	Text   string // the word
	Reason string // what is wrong, and what to write
}

// Error names the word, its place, and what to write instead.
func (e *Error) Error() string {
	return fmt.Sprintf("column %d: %q: %s", e.Column, e.Text, e.Reason)
}

// Parse parses a condition. The error is an *Error for the first word that cannot be parsed.
func Parse(line string) (Condition, error) {
	c, err := parseWords(line, false)
	if err != nil {
		return Condition{}, err
	}
	return c, nil
}

// ParseSearch parses a condition as typed into a search: a word that is not a keyword and
// has no wildcard matches every name that contains it, ignoring case. With an error, it
// also returns the condition without the words that cannot be parsed.
func ParseSearch(line string) (Condition, error) { return parseWords(line, true) }

func parseWords(line string, search bool) (c Condition, first error) {
	end := 0 // end of the last word, in bytes
	for _, text := range strings.Fields(line) {
		start := end + strings.Index(line[end:], text)
		end = start + len(text)
		w, reason := parseWord(text, search)
		switch {
		case reason == "":
			c.words = append(c.words, w)
		case first == nil:
			first = &Error{Column: utf8.RuneCountInString(line[:start]) + 1, Text: text, Reason: reason}
		}
	}
	return c, first
}

// operators compare a number or a date. Longer operators come before their prefixes.
var operators = []string{">=", "<=", ">", "<", "="}

// parseWord parses one word; reason is why it cannot be parsed, or "".
func parseWord(text string, search bool) (w word, reason string) {
	rest, negated := strings.CutPrefix(text, "!")
	if rest == "" || strings.HasPrefix(rest, "!") {
		return w, "a word must follow the !"
	}
	w, reason = parsePlain(rest, search)
	w.negated = negated
	return w, reason
}

func parsePlain(text string, search bool) (word, string) {
	lower := strings.ToLower(text)
	for _, k := range keywords {
		if lower == k.name && k.flag != nil {
			return word{text: k.name, match: func(m *Model, _ time.Time) Answer { return k.flag(m) }}, ""
		}
	}
	if at := strings.IndexAny(text, "<>=:"); at > 0 {
		name, operator, value := lower[:at], text[at:at+1], text[at+1:]
		for _, o := range operators {
			if strings.HasPrefix(text[at:], o) {
				operator, value = o, text[at+len(o):]
				break
			}
		}
		return parseKeyword(name, operator, value)
	}
	if search && !strings.ContainsAny(text, "*?[") {
		return word{text: "name:*" + text + "*", match: func(m *Model, _ time.Time) Answer {
			return answerOf(strings.Contains(strings.ToLower(m.Info.ID), lower))
		}}, ""
	}
	return word{text: "name:" + text, match: nameMatch(text)}, ""
}

// IsKeyword reports whether a word of a condition is a keyword with or without a value, such
// as price>10, !tools or status:preview. It does not check the value.
func IsKeyword(word string) bool {
	word = strings.ToLower(strings.TrimPrefix(word, "!"))
	at := strings.IndexAny(word, "<>=:")
	return slices.ContainsFunc(keywords, func(k keyword) bool {
		return k.flag != nil && word == k.name || k.flag == nil && at > 0 && word[:at] == k.name
	})
}

// parseKeyword parses a keyword with its value: price>10, status:preview.
func parseKeyword(name, operator, value string) (word, string) {
	i := slices.IndexFunc(keywords, func(k keyword) bool { return k.name == name })
	if i < 0 {
		if operator == ":" {
			return word{}, unknownKeyword(name) + "; for a name that contains a colon, write name:" + name + ":" + value
		}
		return word{}, unknownKeyword(name)
	}
	switch k := keywords[i]; {
	case k.flag != nil:
		return word{}, fmt.Sprintf("%s takes no value; write %s or !%s", name, name, name)
	case (operator == ":") != (k.text != nil):
		return word{}, "write " + k.example
	case value == "":
		return word{}, "a value is missing; write " + k.example
	case k.text != nil:
		match, canonical, reason := k.text(value)
		return word{text: name + ":" + canonical, match: match}, reason
	default:
		match, canonical, reason := k.compare(operator, value)
		return word{text: name + operator + canonical, match: match}, reason
	}
}

// unknownKeyword returns the reason for an unknown keyword, with similar keywords or, if there
// are none, all keywords.
func unknownKeyword(name string) string {
	names := make([]string, len(keywords))
	for i, k := range keywords {
		names[i] = k.name
	}
	if near := nearest.Names(name, names, 2); len(near) > 0 {
		return fmt.Sprintf("there is no condition %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return fmt.Sprintf("there is no condition %q; use %s", name, strings.Join(names, ", "))
}
