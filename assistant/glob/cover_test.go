package glob

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCovers(t *testing.T) {
	for _, tc := range []struct {
		broad, narrow string
		want          bool
		counter       string
	}{
		{"*", "gpt", true, ""},
		{"gpt*", "gpt-4*", true, ""},
		{"gpt-4*", "gpt*", false, "gpt"},
		{"gpt*", "*", false, ""},
		{"?*", "*", false, ""},
		{"*?", "?*", true, ""},
		{"??*", "?*?", true, ""},
		{"?*?", "*?*?*", true, ""},
		{"*preview*", "*-preview-*", true, ""},
		{"*-preview", "*preview", false, "preview"},
		{"[a-c]*", "b?", true, ""},
		{"[!a]*", "[!ab]*", true, ""},
		{"[!ab]*", "[!a]*", false, "b"},
		{"[a-z]", "?", false, "0"},
		{"a*b*", "a*b", true, ""},
		{"a*b", "a*b*", false, "aba"},
		{"*a*b", "*ab", true, ""},
		{"*a?b", "*ab", false, "ab"},
		{"anything", "[z-a]", true, ""},
		{"[z-a]", "a", false, "a"},
		{"[*]", "[*]", true, ""},
		{"[*]", "*", false, ""},
		{"é*", "é?", true, ""},
		{"[\u0080-\U0010ffff]", "é", true, ""},
		{"a", "a", true, ""},
		{"*a*a*a*", "*a*a*a*a*", true, ""},
		{"*a*a*a*a*", "*a*a*a*", false, "aaa"},
		{"[a-m]*", "gpt", true, ""},
		{"\xff*", "\xffa", true, ""},
		{"?", "\xff", true, ""},
		{"[!a]", "[!b]", false, "a"},
	} {
		broad, narrow := Compile(tc.broad), Compile(tc.narrow)
		c := Covers(broad, narrow)
		if c.Covered != tc.want || c.Undecided || utf8.RuneCountInString(c.Counterexample) != utf8.RuneCountInString(tc.counter) {
			t.Errorf("Covers(%q, %q) = %+v, want %v with one like %q", tc.broad, tc.narrow, c, tc.want, tc.counter)
		}
		if !c.Covered && (!narrow.Match(c.Counterexample) || broad.Match(c.Counterexample)) {
			t.Errorf("Covers(%q, %q): %q is no counterexample", tc.broad, tc.narrow, c.Counterexample)
		}
	}
}

func TestRuleCovers(t *testing.T) {
	within := Compile("openai/*")
	for _, tc := range []struct {
		broad, narrow string
		want          bool
		inProvider    bool
	}{
		{"gpt*", "gpt-4", true, true},
		{"*gpt", "gpt", true, true},
		{"gpt", "*gpt", false, false},
		{"gpt", "openai/gpt", false, false}, // x/openai/gpt
		{"openai/gpt", "gpt", false, true},  // within openai the only id is that one
		{"*/gpt", "gpt", false, true},       // "gpt" itself has no segment
		{"*/gpt*", "?*/gpt", true, true},
		{"?*/gpt", "*/gpt", false, true}, // "/gpt" has an empty first segment
		{"[!/]*", "a*", true, true},
		{"o*", "gpt", false, true},
		{"o*", "*", false, true},
		{"openai/*", "*", false, true},
		{"?*", "*", false, true},
	} {
		broad, narrow := Compile(tc.broad), Compile(tc.narrow)
		if c := RuleCovers(broad, narrow, nil); c.Covered != tc.want || c.Undecided {
			t.Errorf("RuleCovers(%q, %q, nil) = %+v, want %v", tc.broad, tc.narrow, c, tc.want)
		}
		if c := RuleCovers(broad, narrow, within); c.Covered != tc.inProvider || c.Undecided {
			t.Errorf("RuleCovers(%q, %q, openai) = %+v, want %v", tc.broad, tc.narrow, c, tc.inProvider)
		}
	}
}

// Where the broad pattern matches nothing, only the slash differs from other letters.
func TestRuleCoversByNothing(t *testing.T) {
	c := RuleCovers(Compile("[z-a]"), Compile("[!a]"), Compile("??"))
	if c.Covered || len(c.Counterexample) != 2 || c.Counterexample[0] != '/' || c.Counterexample[1] == 'a' {
		t.Errorf("RuleCovers = %+v, want a counterexample like /b", c)
	}
}

// words returns all strings over alphabet of up to n characters, shortest
// first.
func words(alphabet string, n int) []string {
	out, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, w := range last {
			for _, r := range alphabet {
				next = append(next, w+string(r))
			}
		}
		out, last = append(out, next...), next
	}
	return out
}

// smallPattern draws a pattern over a, b and the slash; c in the strings stands
// for every other character.
func smallPattern(rng *rand.Rand) *Pattern {
	pieces := []string{"a", "a", "b", "b", "/", "*", "*", "*", "?", "?", "[ab]", "[!a]", "[!/]", "[a/]", "[!ab]"}
	if rng.IntN(40) == 0 {
		pieces = append(pieces, "[z-a]", "[!z-a]")
	}
	return Compile(randomText(rng, pieces, rng.IntN(6)))
}

// TestCoverageByBruteForce compares every answer with what all short strings
// say: a covered pattern has no counterexample among them, and the
// counterexample of an uncovered one is real and has the least length.
func TestCoverageByBruteForce(t *testing.T) {
	spaces := [][]string{words("ab/", 7), words("ab/c", 6)}
	rng := rand.New(rand.NewPCG(11, 12))
	match := (*Pattern).Match
	matchID := (*Pattern).MatchID
	covered, uncovered := 0, 0
	for round := range 9_000 {
		space := spaces[round%2]
		narrow, broad := smallPattern(rng), smallPattern(rng)
		check := func(name string, c Coverage, match func(*Pattern, string) bool, within *Pattern) {
			t.Helper()
			refutes := func(s string) bool { return !match(broad, s) && match(narrow, s) && within.Match(s) }
			if c.Undecided {
				t.Fatalf("%s(%q, %q): undecided", name, broad, narrow)
			}
			if !c.Covered && !refutes(c.Counterexample) {
				t.Fatalf("%s(%q, %q): %q is no counterexample", name, broad, narrow, c.Counterexample)
			}
			if c.Covered {
				covered++
			} else {
				uncovered++
			}
			for _, s := range space {
				if !c.Covered && utf8.RuneCountInString(s) >= utf8.RuneCountInString(c.Counterexample) {
					break
				}
				if refutes(s) {
					t.Fatalf("%s(%q, %q) within %q = %+v, but %q refutes it", name, broad, narrow, within, c, s)
				}
			}
		}
		everything := Compile("*")
		check("Covers", Covers(broad, narrow), match, everything)
		check("RuleCovers", RuleCovers(broad, narrow, nil), matchID, everything)
		within := Compile([]string{"a/*", "[aA]/*", "ab/*", "b*", "[ab]*/*"}[rng.IntN(5)])
		check("RuleCovers", RuleCovers(broad, narrow, within), matchID, within)
	}
	if covered < 3_000 || uncovered < 4_000 {
		t.Fatalf("%d covered, %d not: the test says little", covered, uncovered)
	}
}

// Patterns of several machine words, and random characters beyond ASCII: what
// is made narrower stays covered, and every counterexample is real.
func TestCoverageOfLongPatterns(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 400 {
		narrow := randomText(rng, []string{"a", "b", "é", "*", "?", "[a-f]", "[!b]", "-"}, 40+rng.IntN(120))
		var wider strings.Builder
		for _, piece := range strings.SplitAfter(narrow, "") {
			switch {
			case piece == "-" && rng.IntN(3) == 0 && !strings.ContainsAny(narrow, "["):
				wider.WriteString("*")
			case piece == "é" && rng.IntN(3) == 0:
				wider.WriteString("?")
			default:
				wider.WriteString(piece)
			}
		}
		n, w := Compile(narrow), Compile(wider.String())
		if c := Covers(w, n); !c.Covered && !c.Undecided {
			t.Fatalf("Covers(%q, %q) = %+v, want covered", w, n, c)
		}
		if c := RuleCovers(w, n, nil); !c.Covered && !c.Undecided {
			t.Fatalf("RuleCovers(%q, %q) = %+v, want covered", w, n, c)
		}
		c := Covers(n, w)
		if !c.Covered && !c.Undecided && (!w.Match(c.Counterexample) || n.Match(c.Counterexample)) {
			t.Fatalf("Covers(%q, %q): %q is no counterexample", n, w, c.Counterexample)
		}
	}
}

// explosive returns a question whose sets remember, for each of the last n
// characters, whether it was an a: about 2^n states before the answer.
func explosive(n int) (broad, narrow *Pattern) {
	return Compile("*a" + strings.Repeat("?", n) + "[!a]*"), Compile(strings.Repeat("[ac]", n))
}

func TestCoverageGivesUp(t *testing.T) {
	everything := Compile("*") // keeps RuleCovers from trying an example first
	broad, narrow := explosive(12)
	c := RuleCovers(broad, narrow, everything)
	if c.Covered || c.Undecided || !narrow.Match(c.Counterexample) || broad.MatchID(c.Counterexample) {
		t.Errorf("12 characters: %+v, want a counterexample", c)
	}
	broad, narrow = explosive(40)
	c = RuleCovers(broad, narrow, everything)
	if !c.Undecided || c.Covered || c.States < MaxStates || c.States > MaxStates+100 {
		t.Errorf("40 characters: %+v, want undecided after %d states", c, MaxStates)
	}
	if c = RuleCovers(broad, narrow, nil); c.Undecided || broad.MatchID(c.Counterexample) {
		t.Errorf("with an example: %+v, want a counterexample", c)
	}
}

// Huge patterns give up before they take memory.
func TestCoverageOfHugePatterns(t *testing.T) {
	var text strings.Builder
	for r := range rune(20_000) {
		text.WriteRune(0x4E00 + r)
	}
	huge := Compile(text.String() + "?*")
	if c := Covers(huge, Compile("*"+text.String()+"?*")); c.Covered {
		t.Errorf("Covers = %+v, want not covered", c)
	}
	if c := RuleCovers(huge, huge, nil); c.Covered || !c.Undecided {
		t.Errorf("RuleCovers = %+v, want undecided", c)
	}
}

func TestExample(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 20_000 {
		text := randomText(rng, patternAlphabet, rng.IntN(8))
		p := Compile(text)
		s, ok := p.Example()
		if !utf8.ValidString(text) {
			continue // bad bytes may join to a character
		}
		if ok != p.Match(s) {
			t.Fatalf("Compile(%q).Example() = %q, %v, which it matches: %v", p, s, ok, p.Match(s))
		}
	}
	for pattern, want := range map[string]string{
		"gpt-*[0-9]?": "gpt-0a", "[!a-z]": "0", "[é-ü]*": "é", "[\u0080-\u009f]": "\u0080", "*": "",
	} {
		if got, _ := Compile(pattern).Example(); got != want {
			t.Errorf("Compile(%q).Example() = %q, want %q", pattern, got, want)
		}
	}
}

func BenchmarkCovers(b *testing.B) {
	for _, tc := range []struct{ name, broad, narrow string }{
		{"typical", "gpt-4*mini*", "gpt-4o-mini-[0-9]*"},
		{"100 characters", "*" + strings.Repeat("gpt*[0-9]?o-", 9), "x*" + strings.Repeat("gpt*[0-5]?o-", 9)},
		{"undecided", "*a" + strings.Repeat("?", 45) + "[!a]*", strings.Repeat("[ac]", 24)},
		{"undecided, worst found", "*[!c]????[!a][!b]??[!a][!a][!b]?[!b][!b][!b]??[!a][!a]?[!a][!a]?[!b][!b][!b][!a]??[!a]??", strings.Repeat("?", 65)},
	} {
		broad, narrow, everything := Compile(tc.broad), Compile(tc.narrow), Compile("*")
		b.Run(tc.name, func(b *testing.B) {
			var c Coverage
			for b.Loop() {
				c = RuleCovers(broad, narrow, everything)
			}
			b.ReportMetric(float64(c.States), "states")
		})
	}
}
