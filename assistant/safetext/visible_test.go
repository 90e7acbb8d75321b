package safetext

import (
	"slices"
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"gpt-4*":                   "gpt-4*",
		"Grüße 日本語 — ok":           "Grüße 日本語 — ok",
		"a\u202eb":                 "a‹U+202E›b",
		"a\x1b[31mb\n\t":           "a‹U+001B›[31mb‹U+000A›‹U+0009›",
		"a\u009bb\x9bc":            "a‹U+009B›b‹0x9B›c",
		"zero\u200bwidth\u200d":    "zero‹U+200B›width‹U+200D›",
		"tag\U000e0041":            "tag‹U+E0041›",
		"x\ufe0f":                  "x‹U+FE0F›",
		"g\u043ft":                 "g‹U+043F›t",
		"gpt-4\u043e":              "gpt-4‹U+043E›",
		"https://\u0430\u0440.com": "https://‹U+0430›‹U+0440›.com",
		"github.com\u2044evil":     "github.com‹U+2044›evil",
		"gpt\u20114":               "gpt‹U+2011›4",
		"a\u00a0b\u3000":           "a‹U+00A0›b‹U+3000›",
		"‹U+202E›":                 "‹U+2039›U+202E‹U+203A›",
		"нос и рот":                "нос и рот",
		"𝗴pt":                      "‹U+1D5F4›pt",
		"\u0301a\u0301":            "‹U+0301›a\u0301",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestVisibleNeverJoinsTwoTexts(t *testing.T) {
	texts := []string{
		"a", "\u0430", "‹U+0430›", "a\u200b", "a\u200b\u200b", "a\xff", "a\ufffd", "‹0xFF›", "a ", "a\u00a0", "a\n", "a\t",
		"gpt\u043e", "gpto", "a\ufe0f", "a\ufe0e", "a\u0301", "á",
	}
	seen := map[string]string{}
	for _, s := range texts {
		v := Visible(s)
		if other, ok := seen[v]; ok {
			t.Errorf("Visible(%q) = Visible(%q) = %q", s, other, v)
		}
		seen[v] = s
	}
}

func TestSuspicious(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns []int
		like    string
	}{
		{"plain ascii", nil, ""},
		{"Привет, мир", nil, ""},
		{"я и ты, а он?", nil, ""},
		{"日本語text とRails", nil, ""},
		{"naïve Ångström kızı", nil, ""},
		{"user-друг", nil, ""},
		{"p\u0430ypal", []int{2}, "a"},
		{"see p\u0430yp\u0430l now", []int{6, 9}, "aa"},
		{"\u0441\u043e.example", []int{1, 2}, "co"},
		{"*\u043e3*", []int{2}, "o"},
		{"\u03bfpenai", []int{1}, "o"},
		{"hello\u0436", []int{6}, "\x00"},
		{"\U0001d420pt", []int{1}, "g"},
		{"ｇｐｔ-4", []int{1, 2, 3}, "gpt"},
		{"a\u2215b", []int{2}, "/"},
		{"word\u2014word", nil, ""},
	} {
		var columns []int
		like := ""
		for _, f := range Suspicious(c.in) {
			columns = append(columns, f.Column)
			like += string(f.Like)
			if f.String() == "" || []rune(c.in)[f.Column-1] != f.Rune {
				t.Errorf("Suspicious(%q): wrong finding %+v", c.in, f)
			}
		}
		if !slices.Equal(columns, c.columns) || like != c.like {
			t.Errorf("Suspicious(%q) = columns %v like %q, want %v %q", c.in, columns, like, c.columns, c.like)
		}
	}
}

func TestLookalikeTables(t *testing.T) {
	for name, table := range map[string]string{"letters": letterPairs, "signs": signPairs} {
		text := []rune(table)
		if len(text)%2 != 0 {
			t.Errorf("%s: odd number of characters", name)
		}
		seen := map[rune]bool{}
		for i := 0; i+1 < len(text); i += 2 {
			if text[i] < 0x80 || text[i+1] >= 0x80 || seen[text[i]] {
				t.Errorf("%s: pair %d is U+%04X U+%04X, want a new sign and ASCII", name, i/2, text[i], text[i+1])
			}
			seen[text[i]] = true
		}
	}
}

func TestSuspiciousQuotesLittle(t *testing.T) {
	long := "a" + strings.Repeat("\u0430", 2000)
	for _, f := range Suspicious(long) {
		if n := len([]rune(f.Word)); n > 2*maxBeside+1 {
			t.Fatalf("column %d quotes %d characters, want at most %d", f.Column, n, 2*maxBeside+1)
		}
	}
}
