package offline

import (
	"slices"
	"strings"
	"unicode"
)

// found is what an item means on one provider.
type found struct {
	patterns []string // they match just the models
	models   []model
	known    []string // the words of the item that mean something here
}

// synonyms lists what ids write for a word of the user. Words are not stemmed:
// the plurals that people say of models stand here.
var synonyms = map[string][]string{
	"experimental": {"exp"}, "embeddings": {"embedding"}, "embed": {"embedding"}, "previews": {"preview"}, "minis": {"mini"}, "nanos": {"nano"},
	"images": {"image"}, "turbos": {"turbo"}, "haikus": {"haiku"}, "sonnets": {"sonnet"}, "betas": {"beta"}, "snapshots": {"snapshot"},
	"transcription": {"transcribe"}, "speech": {"tts"}, "coding": {"code", "coder", "codex"}, "coders": {"coder"}, "vision": {"vl"},
}

// find finds the models of an item. A typed pattern is known even when it
// matches nothing: rules may wait for models that come later. The newest are
// looked for among those that are not excepted.
func (it item) find(cat *catalog, excepted []model) found {
	var f found
	models := cat.models
	var ws []term
	for _, w := range it.words {
		parts := []term{w}
		hits := w.models(cat, it)
		if i := strings.LastIndexByte(w.text, '-'); len(hits) == 0 && w.form == asWord && i > 0 && startsWithDigit(w.text[i+1:]) { // "claude 4.5 sonnet"
			parts = []term{{w.text[:i], asWord}, {w.text[i+1:], asWord}}
			hits = intersect(parts[0].models(cat, it), parts[1].models(cat, it))
		}
		if len(hits) > 0 || w.form == asTyped {
			f.known = append(f.known, w.text)
		}
		ws, models = append(ws, parts...), intersect(models, hits)
	}
	if len(f.known) < len(it.words) {
		return f
	}
	it.words, f.models = ws, models
	switch {
	case it.newest || it.old:
		f.models = it.byAge(cat, without(models, excepted))
		if len(f.models) <= maxEnumerated {
			f.patterns = unique(names(f.models))
		}
	case len(it.words) == 0:
		f.patterns = []string{"*"}
	case len(it.words) == 1 && it.words[0].form == asTyped:
		f.patterns = []string{it.words[0].text}
	case len(models) > 0:
		f.patterns = choose(cat, models, it.spellings(cat, models))
	default:
		f.known = nil // each word is known, but no model has them all
	}
	return f
}

// texts are the word and its synonyms.
func (w term) texts() []string { return append([]string{w.text}, synonyms[w.text]...) }

// byAge picks the newest models, or all others.
func (it item) byAge(cat *catalog, models []model) []model {
	pool := models
	if len(it.words) == 0 {
		pool = cat.matching(mainFamily(models, cat.provider))
	}
	top := newestOf(pool, it.count)
	if it.newest {
		return top
	}
	return without(pool, top)
}

// models returns the models that a word fits.
func (w term) models(cat *catalog, it item) []model {
	if w.form == asTyped {
		return cat.matching(w.text)
	}
	if w.form == asWord && len(it.words) == 1 && !it.family {
		if hits := filter(cat.models, func(m model) bool { return m.named(w.text) }); len(hits) > 0 {
			return hits
		}
	}
	for _, text := range w.texts() {
		for _, bounded := range []bool{true, false} {
			hits := filter(cat.models, func(m model) bool {
				return w.at(m.name, text, bounded) >= 0 || w.at(m.id, text, bounded) >= 0 && strings.Contains(text, "/")
			})
			if len(hits) > 0 {
				return hits
			}
			if w.form != asPart {
				break
			}
		}
	}
	return nil
}

// at is where a word stands in a name; -1 when it does not. bounded asks for
// separators or a change between letters and digits around it. Case does not
// count, and . and - are the same.
func (w term) at(name, text string, bounded bool) int {
	name, text = alike(name), alike(text)
	switch {
	case text == "":
		return -1
	case w.form == asPrefix && strings.HasPrefix(name, text):
		return 0
	case w.form == asSuffix && strings.HasSuffix(name, text):
		return len(name) - len(text)
	case w.form == asPrefix || w.form == asSuffix || bounded && len(text) < 2:
		return -1
	}
	for from := 0; from < len(name); from++ {
		i := strings.Index(name[from:], text)
		if i < 0 {
			break
		}
		from += i
		end := from + len(text)
		if !bounded || (from == 0 || boundary(name[from-1], name[from])) && (end == len(name) || boundary(name[end-1], name[end])) {
			return from
		}
	}
	return -1
}

func alike(s string) string { return strings.ReplaceAll(asciiLower(s), ".", "-") }

// asciiLower keeps every byte where it is.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | ' '
		}
	}
	return string(b)
}

// boundary reports that two neighbouring bytes belong to different words.
func boundary(a, b byte) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	other := func(c byte) bool { return c < 0x80 && !digit(c) && !unicode.IsLetter(rune(c)) }
	return other(a) || other(b) || digit(a) != digit(b)
}

// written are the ways in which the names of models write a word.
func (w term) written(models []model) []string {
	var out []string
	for _, m := range models {
		for _, text := range w.texts() {
			if i := w.at(m.name, text, w.form == asWord); i >= 0 {
				out = append(out, m.name[i:i+len(text)])
				break
			}
		}
	}
	return unique(out)
}

// spellings lists the ways to write an item as patterns, the best first.
func (it item) spellings(cat *catalog, models []model) [][]string {
	if len(it.words) == 1 {
		return it.words[0].spellings(models, !it.family)
	}
	if len(it.words) > 3 {
		return nil
	}
	var out [][]string
	for _, order := range orders(it.words) {
		p, ok := joined(order, models)
		if ok {
			out = append(out, []string{p})
		}
	}
	if len(out) == 2 {
		out = append(out, []string{out[0][0], out[1][0]})
	}
	return out
}

// orders are the orders of two or three words, the given one first.
func orders(ws []term) [][]term {
	if len(ws) < 2 {
		return [][]term{ws}
	}
	var out [][]term
	for i := range ws {
		rest := slices.Concat(ws[:i], ws[i+1:])
		for _, o := range orders(rest) {
			out = append(out, append([]term{ws[i]}, o...))
		}
	}
	return out
}

// joined writes words in order as one pattern: gpt*preview*.
func joined(ws []term, models []model) (string, bool) {
	p := "*"
	for i, w := range ws {
		text := w.text
		if w.form == asTyped {
			text = strings.Trim(text, "*")
		} else if forms := w.written(models); len(forms) == 1 {
			text = forms[0]
		} else {
			return "", false
		}
		if i == 0 && (familyOf(w.text) != "" || w.form == asPrefix || w.form == asTyped && !strings.HasPrefix(w.text, "*")) {
			p = ""
		}
		if p += text; w.form != asSuffix || i < len(ws)-1 {
			p += "*"
		}
	}
	return p, true
}

// spellings lists the ways to write one word as patterns. An id stands for
// itself unless whole is false.
func (w term) spellings(models []model, whole bool) [][]string {
	if w.form == asTyped {
		return [][]string{{w.text}}
	}
	if whole && w.form == asWord && len(models) == 1 && models[0].named(w.text) {
		return [][]string{{models[0].name}, {models[0].id}}
	}
	shapes := []string{"*%*", "%*", "*-%*", "*/%*", "*-%", "*-%-*", "% %-*", "*-% *-%-*"}
	switch {
	case w.form == asPrefix:
		shapes = []string{"%*"}
	case w.form == asSuffix:
		shapes = []string{"*%"}
	case familyOf(w.text) != "" && w.form == asWord:
		shapes = append([]string{"%*"}, shapes...)
	}
	written := w.written(models)
	var out [][]string
	for _, shape := range shapes {
		var patterns []string
		for _, s := range strings.Fields(shape) {
			for _, text := range written {
				patterns = append(patterns, strings.Replace(s, "%", text, 1))
			}
		}
		out = append(out, patterns)
	}
	return out
}

// families are the names that ids of models begin with.
var families = set("gpt chatgpt o1 o3 o4 davinci babbage dall-e whisper tts sora codex claude gemini gemma imagen veo palm grok mistral mixtral codestral " +
	"ministral magistral pixtral devstral llama qwen deepseek kimi glm command phi nova titan sonar yi jamba minimax nemotron hermes solar")

// familyOf is the family that a word begins with: "gpt-4", "qwen3", "claude".
func familyOf(s string) string {
	if families[s] {
		return s
	}
	for i := len(s) - 1; i > 0; i-- {
		if c := s[i]; (c == '-' || c == '.' || c == ':' || c >= '0' && c <= '9') && families[s[:i]] {
			return s[:i]
		}
	}
	return ""
}
