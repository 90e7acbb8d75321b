package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// release is what an id tells of a model's age.
type release struct {
	model   model
	version []int  // the first run of numbers that are neither a date nor a size
	date    int    // YYYYMMDD, or MMDD when no year is written; latest without one
	line    string // the id without version and date: models of one line replace each other
	chat    bool   // it is not a speech, picture or embedding model
}

// latest is the date of an id without a date or with "-latest": an alias of the
// newest dated model of its line.
const latest = 99999999

var (
	// dated finds 20251101, 2025-11-01, and after a version 0613 and the revision 002.
	dated = regexp.MustCompile(`(?:^|[-_@:])(20\d{6}|20\d\d-[01]\d-[0-3]\d|[01]\d[0-3]\d|0\d\d)(?:$|[-_@:])`)
	// sized finds 70b, 8x7b, a22b, 16k: how large, not how new.
	sized = regexp.MustCompile(`(?:^|[-_:])(?:a?\d+(?:\.\d+)?[bkm]|\d+x\d+b)(?:$|[-_:])`)
	// versioned finds 3-5, 4.1, the 4 of 4o and the 3 of qwen3.
	versioned = regexp.MustCompile(`\d{1,2}(?:[.-]\d{1,2})*`)
	// noVersion finds longer numbers.
	noVersion = regexp.MustCompile(`\d{3,}`)
)

func readRelease(m model) release {
	blank := func(s string) string { return strings.Repeat("-", len(s)) } // the rest stays where it is
	name := asciiLower(m.name[strings.LastIndexByte(m.name, '/')+1:])
	r := release{model: m, date: latest, chat: true}
	for part := range strings.FieldsFuncSeq(name, func(c rune) bool { return strings.ContainsRune("-_:@ ", c) }) {
		r.chat = r.chat && !notChat[strings.TrimRight(part, "0123456789.")]
	}
	name = strings.ReplaceAll(name, "-latest", "")
	if d := dated.FindStringSubmatchIndex(name); d != nil && d[0] > 0 {
		r.date, _ = strconv.Atoi(strings.ReplaceAll(name[d[2]:d[3]], "-", ""))
		name = name[:d[0]] + name[d[3]:]
	}
	r.line = name
	bare := noVersion.ReplaceAllStringFunc(sized.ReplaceAllStringFunc(name, blank), blank)
	if v := versioned.FindStringIndex(bare); v != nil {
		for n := range strings.FieldsFuncSeq(bare[v[0]:v[1]], func(c rune) bool { return c == '.' || c == '-' }) {
			i, _ := strconv.Atoi(n)
			r.version = append(r.version, i)
		}
		r.line = name[:v[0]] + "#" + name[v[1]:]
	}
	return r
}

// newer orders releases newest first; ties by the shorter, then the smaller id.
func newer(a, b release) int {
	return cmp.Or(slices.Compare(b.version, a.version), b.date-a.date, len(a.model.id)-len(b.model.id), strings.Compare(a.model.id, b.model.id))
}

// newestOf picks the newest models. n > 0: the n newest, one of each line.
// n = 0: of each line that has the highest version, its newest. Models that
// are not for chat are passed over unless there is nothing else.
func newestOf(models []model, n int) []model {
	var rs []release
	for _, m := range models {
		rs = append(rs, readRelease(m))
	}
	if slices.ContainsFunc(rs, func(r release) bool { return r.chat }) {
		rs = slices.DeleteFunc(rs, func(r release) bool { return !r.chat })
	}
	slices.SortFunc(rs, newer)
	var out []model
	seen := map[string]bool{}
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
// its vendor is known for, else the one with the most models. Versions of
// different families cannot be compared.
func mainFamily(models []model, provider string) string {
	if f := vendors[strings.ToLower(provider)]; f != "" && slices.ContainsFunc(models, func(m model) bool { return strings.HasPrefix(asciiLower(m.name), f) }) {
		return f + "*"
	}
	counts, best := map[string]int{}, ""
	for _, m := range models {
		f := m.name[:len(m.name)-len(strings.TrimLeft(asciiLower(m.name), "abcdefghijklmnopqrstuvwxyz"))]
		if counts[f]++; f != "" && (counts[f] > counts[best] || counts[f] == counts[best] && f < best) {
			best = f
		}
	}
	return best + "*"
}

// notChat marks models that "newest" passes over: a newer speech or picture
// model is not a newer model of its family.
var notChat = set("embedding embed tts audio realtime transcribe image moderation whisper dall sora search instruct guard vision imagen veo rerank")

// vendors are the providers that count as major, each with the family in which
// its newest models are looked for.
var vendors = map[string]string{
	"openai": "gpt", "anthropic": "claude", "gemini": "gemini", "google": "gemini", "vertex": "gemini", "vertexai": "gemini",
	"xai": "grok", "mistral": "mistral", "deepseek": "deepseek", "meta": "llama", "cohere": "command", "moonshot": "kimi",
	"zai": "glm", "qwen": "qwen", "minimax": "minimax", "perplexity": "sonar",
}
