package offline

import (
	"slices"
	"strings"
	"unicode"
)

// release is what an id tells of a model's age.
type release struct {
	model   model
	version []int  // the first run of numbers that are neither a date nor a size
	date    int    // YYYYMMDD, or MMDD when no year is written; latest for an alias
	line    string // the id without version and date: models of one line replace each other
	chat    bool   // it is not a speech, picture or embedding model
}

const (
	// latest is the date of an id without a date or with "-latest": an alias of
	// the newest dated model of its line.
	latest = 99999999
	// maxVersion bounds a version number; 1106 and 70 are a date and a size.
	maxVersion = 99
)

// read takes an id apart. Version: the first run of numbers ("3-5", "4.1",
// "4" in "4o", "3" in "o3" and "qwen3"). Date: 20251101, 2025-11-01, 0613.
func read(m model) release {
	r := release{model: m, date: latest, chat: true}
	var line []string
	parts := strings.FieldsFunc(strings.ToLower(m.name[strings.LastIndexByte(m.name, '/')+1:]), func(c rune) bool {
		return c == '-' || c == '_' || c == ':' || c == '@' || c == ' '
	})
	open := true // the version run has not ended
	for i := 0; i < len(parts); i++ {
		p := parts[i]
		if notChat[strings.TrimRight(p, "0123456789.")] {
			r.chat = false
		}
		if d, n := dateAt(parts[i:], len(r.version) > 0); n > 0 {
			r.date = d
			i += n - 1
			continue
		}
		if p == "latest" {
			continue
		}
		v, rest, ok := versionIn(p)
		if ok && open && (len(r.version) == 0 || rest == "") {
			r.version = append(r.version, v...)
			line = append(line, "#"+rest)
			continue
		}
		open = open && len(r.version) == 0
		line = append(line, p)
	}
	r.line = strings.ReplaceAll(strings.Join(line, "-"), "#-#", "#")
	return r
}

// dateAt reads a date at the start of parts and returns how many it takes.
func dateAt(parts []string, afterVersion bool) (date, n int) {
	y := digits(parts[0])
	switch {
	case len(parts[0]) == 8 && y >= 20000101 && y < 21000000:
		return y, 1
	case len(parts[0]) == 4 && y >= 2000 && y < 2100 && len(parts) >= 3 && len(parts[1]) == 2 && len(parts[2]) == 2:
		if mo, d := digits(parts[1]), digits(parts[2]); mo >= 1 && mo <= 12 && d >= 1 && d <= 31 {
			return y*10000 + mo*100 + d, 3
		}
	case len(parts[0]) == 4 && afterVersion && y >= 101 && y <= 1231:
		return y, 1
	case len(parts[0]) == 3 && afterVersion && y >= 1: // a revision: gemini-1.5-pro-002
		return y, 1
	}
	return 0, 0
}

// versionIn reads the number in one part: "4.1", "4o", "o3", "v3.1", "qwen3".
// Sizes ("70b", "8x7b", "128k") are none.
func versionIn(p string) (v []int, rest string, ok bool) {
	start := strings.IndexFunc(p, unicode.IsDigit)
	if start < 0 {
		return nil, "", false
	}
	end := start
	for end < len(p) && (p[end] >= '0' && p[end] <= '9' || p[end] == '.') {
		end++
	}
	tail := p[end:]
	if strings.ContainsFunc(p[:start], func(c rune) bool { return !unicode.IsLetter(c) && c != '.' }) ||
		tail == "b" || tail == "k" || tail == "m" || strings.HasPrefix(tail, "x") && len(tail) > 1 || start == 1 && p[0] == 'a' && strings.HasSuffix(tail, "b") {
		return nil, "", false
	}
	for f := range strings.SplitSeq(p[start:end], ".") {
		n := digits(f)
		if n < 0 || n > maxVersion {
			return nil, "", false
		}
		v = append(v, n)
	}
	return v, p[:start] + tail, true
}

// digits reads a short decimal number; -1 when s is none.
func digits(s string) int {
	if s == "" || len(s) > 8 {
		return -1
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// newer orders releases newest first; ties by the shorter, then the smaller id.
func newer(a, b release) int {
	if c := slices.Compare(b.version, a.version); c != 0 {
		return c
	}
	if a.date != b.date {
		return b.date - a.date
	}
	if len(a.model.id) != len(b.model.id) {
		return len(a.model.id) - len(b.model.id)
	}
	return strings.Compare(a.model.id, b.model.id)
}

// newestOf picks the newest models. n > 0: the n newest, one of each line.
// n = 0: of each line that has the highest version, its newest. Models that
// are not for chat are passed over unless there is nothing else.
func newestOf(models []model, n int) []model {
	rs := make([]release, 0, len(models))
	for _, m := range models {
		rs = append(rs, read(m))
	}
	if slices.ContainsFunc(rs, func(r release) bool { return r.chat }) {
		rs = slices.DeleteFunc(rs, func(r release) bool { return !r.chat })
	}
	slices.SortFunc(rs, newer)
	var out []model
	seen := make(map[string]bool)
	for _, r := range rs {
		if n > 0 && len(out) == n || n == 0 && slices.Compare(r.version, rs[0].version) != 0 {
			break
		}
		if !seen[r.line] {
			seen[r.line] = true
			out = append(out, r.model)
		}
	}
	return out
}

// mainFamily is where the newest of a whole provider is looked for: the family
// its vendor is known for, else the one with the most models. Version numbers
// of different families cannot be compared.
func mainFamily(models []model, provider string) string {
	if f := vendors[strings.ToLower(provider)]; f != "" && slices.ContainsFunc(models, func(m model) bool { return strings.HasPrefix(asciiLower(m.name), f) }) {
		return f + "*"
	}
	counts := make(map[string]int)
	best := ""
	for _, m := range models {
		f := strings.TrimRightFunc(firstPart(m.name), unicode.IsDigit)
		if f == "" {
			continue
		}
		counts[f]++
		if counts[f] > counts[best] || counts[f] == counts[best] && f < best {
			best = f
		}
	}
	if best == "" {
		return "*"
	}
	return best + "*"
}

// firstPart is the id up to its first separator.
func firstPart(id string) string {
	if i := strings.IndexAny(id, "-_.:/@[*?"); i >= 0 {
		return id[:i]
	}
	return id
}

// notChat marks models that "newest" passes over unless there is nothing else:
// a newer speech or picture model is not a newer model of its family.
var notChat = set("embedding embed tts audio realtime transcribe image moderation whisper dall sora search instruct guard vision imagen veo rerank")

// vendors are the providers that count as major, each with the family in which
// its newest models are looked for.
var vendors = map[string]string{
	"openai": "gpt", "anthropic": "claude", "gemini": "gemini", "google": "gemini", "vertex": "gemini", "vertexai": "gemini",
	"xai": "grok", "mistral": "mistral", "deepseek": "deepseek", "meta": "llama", "cohere": "command", "moonshot": "kimi",
	"zai": "glm", "qwen": "qwen", "minimax": "minimax", "perplexity": "sonar",
}
