package offline

import (
	"maps"
	"slices"
	"strings"

	"winnow/assistant"
)

// notUnderstood says what of a request was understood and what was not, with
// suggestions. The turn changes nothing then.
func (t *turn) notUnderstood(s step, left []string) {
	if s.kind == unknown || s.kind == followUp {
		t.say("I did not understand %s. %s", code(s.text), nothingChanged)
	} else {
		t.say("I understood %s, but not %s. %s", code(s.without(left)), codes(unique(left)), nothingChanged)
	}
	before := len(t.offers)
	for _, w := range left {
		if near := t.nearWord(strings.ToLower(w)); near != "" {
			better := replaceFold(s.text, w, near)
			t.offer(upperFirst(better), better)
			t.say("Did you mean %s?", code(better))
		}
	}
	if s.kind == hide && len(left) > 0 {
		quoted := `hide "*` + strings.Trim(left[0], `"*`) + `*"`
		t.say("I know models by their names only. For a rule about names that come later, say %s.", code(quoted))
		t.offer(upperFirst(quoted), quoted)
	}
	if len(t.offers) == before {
		t.offer("Help", "help")
		t.say("Say `help` for what I understand.")
	}
}

// without is the text of a step without some words.
func (s step) without(left []string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(s.text), func(w string) bool {
		return slices.ContainsFunc(left, func(l string) bool { return strings.EqualFold(w, l) })
	}), " ")
}

// suggestable are words that people say of models, and of what shall be done.
var suggestable = set("preview beta experimental latest mini nano micro lite flash turbo haiku opus sonnet coder codex instruct thinking reasoning vision audio " +
	"realtime transcribe image embedding moderation search guard legacy hide block ignore allow unhide only undo save explain find")

// nearWord is the word of suggestable, the provider or the part of a model's
// name that a word is a slip of; "" when none is near.
func (t *turn) nearWord(w string) string {
	const shortest, longest = 4, 40 // shorter words are all near to each other
	if len(w) < shortest || len(w) > longest {
		return ""
	}
	words := slices.Concat(slices.Collect(maps.Keys(suggestable)), t.w.providers)
	for _, m := range t.w.shown.models {
		words = append(words, strings.FieldsFunc(asciiLower(m.name), func(r rune) bool { return r < 'a' || r > 'z' })...)
	}
	words = slices.DeleteFunc(words, func(have string) bool {
		return len(have) < shortest || assistant.EditDistance(w, strings.ToLower(have)) != 1
	})
	if len(words) == 0 {
		return ""
	}
	return strings.ToLower(slices.Min(words))
}
