package safetext

import (
	"maps"
	"slices"
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
		if got := string(Visible(in)); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestVisibleNeverJoinsTwoTexts(t *testing.T) {
	texts := []string{
		"a", "\u0430", "‹U+0430›", "a\u200b", "a\u200b\u200b", "a\xff", "a\ufffd", "‹0xFF›", "a ", "a\u00a0", "a\n", "a\t",
		"gpt\u043e", "gpto", "a\ufe0f", "a\ufe0e", "a\u0301", "á",
	}
	seen := map[Text]string{}
	for _, s := range texts {
		v := Visible(s)
		if other, ok := seen[v]; ok {
			t.Errorf("Visible(%q) = Visible(%q) = %q", s, other, v)
		}
		seen[v] = s
	}
}

// What is spelled out already stays, and all else is spelled out.
func TestVisibleOnce(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "a\u202eb": "a‹U+202E›b", "a‹U+202E›b\u200b": "a‹U+202E›b‹U+200B›", "‹0x9B›\x9b": "‹0x9B›‹0x9B›",
		"‹U+2›": "‹U+2039›U+2‹U+203A›", "‹U+202E\n›": "‹U+2039›U+202E‹U+000A›‹U+203A›", "‹U+202e›": "‹U+2039›U+202e‹U+203A›",
		"‹‹U+202E››": "‹U+2039›‹U+202E›‹U+203A›", "‹U+0065›\u0301": "‹U+0065›‹U+0301›",
	} {
		if got := string(VisibleOnce(text)); got != want {
			t.Errorf("VisibleOnce(%q) = %q, want %q", text, got, want)
		}
		if got, want := VisibleOnce(Visible(text)), Visible(text); got != want {
			t.Errorf("VisibleOnce(%q) = %q", want, got)
		}
	}
}

func TestDeceptiveCharacters(t *testing.T) {
	for text, want := range map[string][]int{
		"plain ascii": nil, "Привет, мир": nil, "я и ты, а он?": nil, "日本語text とRails": nil,
		"naïve Ångström kızı": nil, "user-друг": nil, "word\u2014word": nil,
		"p\u0430ypal":              {1},
		"see p\u0430yp\u0430l now": {5, 8},
		"\u0441\u043e.example":     {0, 1},
		"*\u043e3*":                {1},
		"\u03bfpenai":              {0},
		"hello\u0436":              {5},
		"\U0001d420pt":             {0},
		"ｇｐｔ-4":                    {0, 1, 2},
		"a\u2215b":                 {1},
	} {
		if got := slices.Sorted(maps.Keys(deceptive([]rune(text)))); !slices.Equal(got, want) {
			t.Errorf("deceptive(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestLookalikeTables(t *testing.T) {
	for name, table := range map[string]string{"letters": letterPairs, "signs": punctuationPairs} {
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

// TestLinesAreSafeOneByOne: what one line hides cannot reach into the next.
func TestLinesAreSafeOneByOne(t *testing.T) {
	got := Lines("a\tb\n\x1b[31mred\u202e\n", Visible)
	want := []string{"a    b", string(Visible("\x1b[31mred\u202e")), ""}
	if !slices.Equal(got, want) {
		t.Errorf("Lines = %q, want %q", got, want)
	}
}
