package glob

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, tc := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "a/b\nc", true},
		{"***", "x", true},
		{"*", "openai/gpt-4", true},
		{"gpt-4", "gpt-4", true},
		{"gpt-4", "GPT-4", false},
		{"gpt-4*", "gpt-4o", true},
		{"gpt-4*", "gpt-3", false},
		{"*-preview", "o1-preview", true},
		{"*-preview", "o1-previews", false},
		{"*preview*", "a-preview-b", true},
		{"a*b", "ab", true},
		{"a*b", "a/x\nb", true},
		{"ab*ba", "aba", false},
		{"a?c", "a\nc", true},
		{"a?c", "aéc", true},
		{"a?c", "a🙂c", true},
		{"a?c", "ae\u0301c", false}, // a combining accent is a character of its own
		{"???", "日本語", true},
		{"[!5]", "4", true},
		{"[!5]", "5", false},
		{"[!5]", "", false},
		{"{a,b}", "a", false},
		{"{a,b}", "{a,b}", true},
		{`a\*`, `a\b`, true},
		{`a\*`, "a*", false},
		{`[\]`, `\`, true},
		{"gpt-[", "gpt-[", true},
		{"[]", "[]", true},
		{"[!]", "[!]", true},
		{"[]a]", "]", true},
		{"[]a]", "a", true},
		{"[!]a]", "]", false},
		{"[!]a]", "b", true},
		{"[z-a]", "z", false},
		{"[z-a]", "-", false},
		{"x[z-a]*", "x", false},
		{"[!z-a]", "z", true},
		{"[!z-a]", "é", true},
		{"[!z-a]", "", false},
		{"[a-c]", "b", true},
		{"[a-c]", "-", false},
		{"[-a]", "-", true},
		{"[a-]", "-", true},
		{"[!-a]", "-", false},
		{"[!-a]", "b", true},
		{"[a-c-e]", "d", false},
		{"[a-c-e]", "-", true},
		{"[a-c-e]", "e", true},
		{"[+--]", ",", true},
		{"[--0]", ".", true},
		{"[^a]", "^", true},
		{"[^a]", "b", false},
		{"[!^a]", "b", true},
		{"[[a]", "[", true},
		{"[a&&b]", "&", true},
		{"[α-ω]", "λ", true},
		{"[α-ω]", "l", false},
		{"[a-mx-z]", "y", true},
		{"[c-ab]", "b", true}, // the empty range goes, the rest stays
		{"[c-ab]", "c", false},
		{"[z-a!b]", "q", true}, // what follows a removed range becomes a negation
		{"[z-a!b]", "b", false},
		{"[z-a!-c]", "-", false},
		{"[z-a!-c]", "b", true},
		{"[z-a!]", "q", true},
		{"[1-3]*[!a-z]", "2abcX", true},
		{"[1-3]*[!a-z]", "2abcx", false},
		{"*[0-9][0-9]*-v?", "abc12-v3", true},
		{"*[0-9][0-9]*-v?", "abc1-2-v3", false},
		{"*?b?*", "abc", true},
		{"*?b?*", "ab", false},
		// Bytes that are not UTF-8.
		{"?", "\xff", true},
		{"?", "\xe2\x82", false},
		{"??", "\xe2\x82", true},
		{"\xff", "\xff", true},
		{"\xff*", "\xff1", true},
		{"\xff", "\xfe", false},
		{"\xe2*", "€", false}, // the byte is there, the character is not
		{"*\xac", "€", false},
		{"*\x82*", "€", false},
		{"\xc3[\xa9]", "é", false},
		{"[\x80-\xff]", "\xc0", true},
		{"[\x80-\xff]", "é", false},
		{"*é", "\xc3é", true},
		{"\ufffd", "\xff", false},
		{"\xff", "\ufffd", false},
	} {
		p := Compile(tc.pattern)
		if got := p.Match(tc.s); got != tc.want {
			t.Errorf("Compile(%q).Match(%q) = %v, want %v", tc.pattern, tc.s, got, tc.want)
		}
		if ref := refMatch(tc.pattern, tc.s); ref != tc.want {
			t.Errorf("reference(%q, %q) = %v, want %v", tc.pattern, tc.s, ref, tc.want)
		}
		if p.String() != tc.pattern {
			t.Errorf("Compile(%q).String() = %q", tc.pattern, p.String())
		}
	}
}

// randomText draws n characters from alphabet; '\xff' stands for a random byte.
func randomText(rng *rand.Rand, alphabet []string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(alphabet[rng.IntN(len(alphabet))])
	}
	return b.String()
}

var (
	patternAlphabet = strings.Split("a b c a b * * ? [ [ ] ] ! ^ - - / \\ & | ~ { } \n é λ 🙂 z 0 9 \xff \xc3 \xa9 \xe2\x82 , . # [a-c] [!b] [b-] [c-a] [!c-a] [z-a!", " ")
	stringAlphabet  = strings.Split("a b c a b c ] [ ! ^ - / \\ & | \n é λ 🙂 z 0 9 \xff \xc3 \xa9 \xe2\x82", " ")
)

// mutant draws a string that stands a chance against pattern.
func mutant(rng *rand.Rand, pattern string) string {
	var b strings.Builder
	for _, r := range pattern {
		switch r {
		case '*':
			b.WriteString(randomText(rng, stringAlphabet, rng.IntN(4)))
		case '?', '[', ']', '!', '-':
			if rng.IntN(2) == 0 {
				b.WriteString(randomText(rng, stringAlphabet, 1))
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func randomCase(rng *rand.Rand) (pattern, s string) {
	pattern = randomText(rng, patternAlphabet, rng.IntN(12))
	if rng.IntN(2) == 0 {
		return pattern, mutant(rng, pattern)
	}
	return pattern, randomText(rng, stringAlphabet, rng.IntN(8))
}

func TestMatchEqualsReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	matches := 0
	for range 100_000 {
		pattern, s := randomCase(rng)
		got, want := Compile(pattern).Match(s), refMatch(pattern, s)
		if got != want {
			t.Fatalf("Compile(%q).Match(%q) = %v, want %v", pattern, s, got, want)
		}
		if got {
			matches++
		}
	}
	if matches < 5_000 {
		t.Fatalf("only %d of the random cases match: the test says little", matches)
	}
}

// Patterns whose parts are longer than a machine word.
func TestMatchLongSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"?", "a", "b", "[ab]", "é", "[!c]", "[α-ω]"}
	text := []string{"a", "a", "b", "é", "λ"}
	for range 400 {
		seg := randomText(rng, pieces, 50+rng.IntN(150))
		pattern := "*" + seg + "*" + randomText(rng, pieces, rng.IntN(3)) + "*"
		s := randomText(rng, text, rng.IntN(200))
		for _, r := range strings.NewReplacer("[ab]", "a", "[!c]", "b", "[α-ω]", "λ", "?", "é").Replace(seg) {
			s += string(r)
		}
		s += randomText(rng, text, rng.IntN(50))
		if rng.IntN(3) == 0 {
			cut := rng.IntN(len(s))
			s = s[:cut] + s[min(len(s), cut+1):]
		}
		if got, want := Compile(pattern).Match(s), refMatch(pattern, s); got != want {
			t.Fatalf("Compile(%q).Match(%q) = %v, want %v", pattern, s, got, want)
		}
	}
}

// pythonMatcher answers one case a line; a pattern that Python itself cannot
// compile answers null.
const pythonMatcher = `
import sys, json, fnmatch, warnings
warnings.simplefilter("ignore")
text = lambda b: bytes(b).decode("utf-8", "surrogateescape")
for line in sys.stdin:
    p, s = json.loads(line)
    try:
        print(json.dumps(fnmatch.fnmatchcase(text(s), text(p))))
    except Exception:
        print("null")
`

func TestMatchEqualsPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here to compare with")
	}
	type testCase struct{ pattern, s string }
	var cases []testCase
	var in strings.Builder
	rng := rand.New(rand.NewPCG(5, 6))
	for range 10_000 {
		pattern, s := randomCase(rng)
		cases = append(cases, testCase{pattern, s})
		fmt.Fprintf(&in, "[%s,%s]\n", byteList(pattern), byteList(s))
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", pythonMatcher)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v", err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	n := 0
	for ; lines.Scan(); n++ {
		var want *bool
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		c := cases[n]
		if want == nil {
			t.Fatalf("python3 cannot compile %q", c.pattern)
		}
		if got := Compile(c.pattern).Match(c.s); got != *want {
			t.Errorf("Compile(%q).Match(%q) = %v, Python says %v", c.pattern, c.s, got, *want)
		}
	}
	if n != len(cases) {
		t.Fatalf("python3 answered %d of %d cases", n, len(cases))
	}
}

func byteList(s string) string {
	return strings.ReplaceAll(fmt.Sprint([]byte(s)), " ", ",")
}

func TestMatchID(t *testing.T) {
	for _, tc := range []struct {
		pattern, id string
		want        bool
	}{
		{"gpt-4", "openai/gpt-4", true},
		{"openai/gpt-4", "openai/gpt-4", true},
		{"gpt-4", "a/openai/gpt-4", false},
		{"openai/*", "a/openai/gpt-4", true},
		{"o*", "openai/gpt-4", true}, // the whole id
		{"*4", "openai/gpt-4", true},
		{"*4/", "openai/4", false},
		{"gpt-4", "gpt-4", true},
		{"", "openai/", true},
		{"", "", true},
		{"?*", "openai/", true},
		{"[!o]*", "openai/gpt", true},
		{"[!og]*", "openai/gpt", false},
	} {
		if got := Compile(tc.pattern).MatchID(tc.id); got != tc.want {
			t.Errorf("Compile(%q).MatchID(%q) = %v, want %v", tc.pattern, tc.id, got, tc.want)
		}
	}
}

func TestMatchIDEqualsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 50_000 {
		pattern, id := randomCase(rng)
		want := refMatch(pattern, id)
		if _, rest, ok := strings.Cut(id, "/"); ok {
			want = want || refMatch(pattern, rest)
		}
		if got := Compile(pattern).MatchID(id); got != want {
			t.Fatalf("Compile(%q).MatchID(%q) = %v, want %v", pattern, id, got, want)
		}
	}
}

// A pattern that would make a backtracking matcher run for ages just ends.
func TestMatchDoesNotBlowUp(t *testing.T) {
	const size = 10 << 10
	as := strings.Repeat("a", size)
	for name, tc := range hostile(size) {
		if Compile(tc).Match(as) {
			t.Errorf("%s: matches", name)
		}
	}
}

// hostile returns patterns of about n bytes that fail against a run of a's as
// late as possible.
func hostile(n int) map[string]string {
	return map[string]string{
		"stars":    strings.Repeat("*a", n/2-2) + "*b*",
		"anys":     "*" + strings.Repeat("?", n-3) + "b*",
		"classes":  "*" + strings.Repeat("[ab]", n/4) + "c*",
		"halves":   "*" + strings.Repeat("?", n/2) + "b*" + strings.Repeat("a", n/2-3),
		"brackets": "*" + strings.Repeat("[", n-2) + "*",
		"mixed":    strings.Repeat("*?[a-c]a", n/8-1) + "*?b*",
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	id := "openai/" + strings.Repeat("gpt-4o-é", 25)
	for _, pattern := range []string{
		"gpt", "gpt*", "*o", "*gpt*", "*", "[z-a]", "*g?t*[0-9]?*é", "o*4o-[é]*",
		"*" + strings.Repeat("?", 100) + "4o*" + strings.Repeat("[a-zé]", 70) + "x*",
	} {
		p := Compile(pattern)
		if n := testing.AllocsPerRun(20, func() { p.MatchID(id) }); n != 0 {
			t.Errorf("Compile(%q).MatchID allocates %v times, want 0", pattern, n)
		}
	}
}

func TestFixedParts(t *testing.T) {
	for _, tc := range []struct{ pattern, prefix, suffix, core string }{
		{"", "", "", ""},
		{"gpt-4", "gpt-4", "gpt-4", "gpt-4"},
		{"gpt*4o", "gpt", "4o", "gpt"},
		{"*-preview*", "", "", "-preview"},
		{"a[*]b?[xy]cd", "a*b", "cd", "a*b"},
		{"é*\xffab", "é", "ab", "é"},
		{"[", "[", "[", "["},
	} {
		p := Compile(tc.pattern)
		if p.Prefix() != tc.prefix || p.Suffix() != tc.suffix || p.Core() != tc.core {
			t.Errorf("Compile(%q): prefix %q, suffix %q, core %q; want %q, %q, %q",
				tc.pattern, p.Prefix(), p.Suffix(), p.Core(), tc.prefix, tc.suffix, tc.core)
		}
	}
}

func TestQuote(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20_000 {
		s := randomText(rng, patternAlphabet, rng.IntN(8))
		other := randomText(rng, patternAlphabet, rng.IntN(8))
		q := Compile(Quote(s))
		if !q.Match(s) {
			t.Fatalf("Quote(%q) = %q does not match it", s, q)
		}
		if other != s && q.Match(other) {
			t.Fatalf("Quote(%q) = %q matches %q", s, q, other)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, seed := range [][2]string{
		{"gpt-4*", "gpt-4o"},
		{"[!]a-c]?*[z-a]", "x"},
		{"*a*a*a*b", "aaaaaaaa"},
		{"[z-a!-c]", "-"},
		{"\xff[\xc3-\xe2]*é", "\xff\xd0é"},
		{"[]-!]", "!"},
		{"*?[a-c]é", "xaé"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, id string) {
		if len(pattern) > 128 || len(id) > 128 {
			return // the reference is slow
		}
		p := Compile(pattern)
		if got, want := p.Match(id), refMatch(pattern, id); got != want {
			t.Fatalf("Compile(%q).Match(%q) = %v, want %v", pattern, id, got, want)
		}
		if !Compile(Quote(id)).Match(id) {
			t.Fatalf("Quote(%q) does not match it", id)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	id := "openai/" + strings.Repeat("gpt-4o-mini-2024-07-18", 9)[:193]
	for _, pattern := range []string{
		"openai/gpt-4o-mini-2024-07-18gpt-4o-mini", // 40 bytes each
		"*-preview-that-is-never-found-in-any-id*",
		"*gpt*mini*2024*07*18*gpt*4o*18gpt*x*4o-*",
		"*?pt-[0-9]o-[!x]ini*20[0-9]?-07-1?*z*",
		"*?a?b?c?d?e?f?g?h?i?j?k?l?m?n?o?p?q?r?s*",
	} {
		p := Compile(pattern)
		b.Run(fmt.Sprintf("40/200/%s", pattern), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.MatchID(id)
			}
		})
	}
	const size = 10 << 10
	as := strings.Repeat("a", size)
	for name, pattern := range hostile(size) {
		p := Compile(pattern)
		b.Run("10k/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Match(as)
			}
		})
	}
	wide, p := strings.Repeat("é", size/2), Compile("*"+strings.Repeat("?", size-4)+"b*")
	b.Run("10k/wide", func(b *testing.B) {
		for b.Loop() {
			p.Match(wide)
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		Compile("gpt-4*-preview[0-9]?")
	}
}
