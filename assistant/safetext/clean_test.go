package safetext

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestClean(t *testing.T) {
	long := strings.Repeat("x", 3*maxString)
	for name, c := range map[string]struct{ in, want string }{
		"plain":                     {"Hello, wörld — 日本語 ñ 🙂", "Hello, wörld — 日本語 ñ 🙂"},
		"empty":                     {"", ""},
		"new line and tab":          {"a\n\tb", "a\n\tb"},
		"CRLF":                      {"a\r\nb\rc\r\r\nd", "a\nb\nc\n\nd"},
		"line separators":           {"a\u2028b\u2029c\u0085d", "a\nb\nc\nd"},
		"C0 and DEL":                {"a\x00b\x07c\x08d\x0be\x0cf\x7fg", "abcdefg"},
		"SGR":                       {"\x1b[31;1mred\x1b[0m", "red"},
		"cursor":                    {"a\x1b[2J\x1b[1;1Hb", "ab"},
		"private CSI":               {"\x1b[?1049hx\x1b[>4;2my\x1b[2 qz", "xyz"},
		"OSC BEL":                   {"\x1b]0;title\x07x", "x"},
		"OSC ST":                    {"\x1b]52;c;aGk=\x1b\\x", "x"},
		"OSC 8":                     {"\x1b]8;;https://evil\x1b\\good.com\x1b]8;;\x1b\\", "good.com"},
		"OSC with C1 end":           {"\x1b]0;t\u009cx", "x"},
		"OSC with raw end":          {"\x1b]0;t\x9cx", "x"},
		"DCS keeps BEL":             {"\x1bPq\x07#0\n\x1b\\x", "x"},
		"APC, PM, SOS":              {"\x1b_a\x1b\\1\x1b^b\x1b\\2\x1bXc\x1b\\3", "123"},
		"ESC x":                     {"a\x1bcb\x1b7c\x1b(Bd\x1b#8e", "abcde"},
		"ESC before other text":     {"\x1bé\x1b\nx", "é\nx"},
		"ESC ESC":                   {"\x1b\x1b[31mx", "x"},
		"C1 CSI":                    {"a\u009b31mb", "ab"},
		"raw CSI":                   {"a\x9b31mb", "ab"},
		"raw OSC":                   {"a\x9d0;t\x07b", "ab"},
		"other C1":                  {"a\u0084\u0090q\u009cb", "ab"},
		"sequence in a string":      {"\x1b]0;t\x1b[31mx", "x"},
		"CAN ends a string":         {"\x1b]0;t\x18x", "x"},
		"line ends an OSC":          {"\x1b]0;t\nstill here", "\nstill here"},
		"unterminated OSC":          {"\x1b]0;" + long, long[:2*maxString+2]},
		"unterminated DCS":          {"\x1bP" + long, long[:2*maxString]},
		"endless CSI":               {"\x1b[" + strings.Repeat("1", 2*maxCSI) + "x", strings.Repeat("1", maxCSI) + "x"},
		"broken UTF-8":              {"a\xffb\xc0\xafc", "a\ufffdb\ufffd\ufffdc"},
		"cut character":             {"a\xe2\x9bb\xf0\x9f", "a\ufffdb\ufffd"},
		"surrogate":                 {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		"bidi":                      {"a\u202eb\u2066c\u2069\u200f\u061cd", "abcd"},
		"tags":                      {"a\U000e0041\U000e0020\U000e007fb", "ab"},
		"selector smuggling":        {"a\ufe01\ufe02\U000e0100\U000e01efb", "ab"},
		"emoji selector":            {"❤\ufe0f x\ufe0f ❤\ufe0f\ufe0f\ufe0e", "❤\ufe0f x ❤\ufe0f"},
		"keycap":                    {"1\ufe0f\u20e3", "1\ufe0f\u20e3"},
		"zero width":                {"a\u200bb\u2060c\ufeffd\u00ade\u034ff\u3164g", "abcdefg"},
		"family":                    {"👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"},
		"heart on fire":             {"❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"},
		"astronaut":                 {"👩🏽\u200d🚀", "👩🏽\u200d🚀"},
		"joiner in Latin":           {"a\u200db\u200cc", "abc"},
		"joiner at an end":          {"👩\u200d", "👩"},
		"joiners in a row":          {"👩\u200d\u200d\u200d🚀", "👩\u200d🚀"},
		"Persian":                   {"می\u200cخواهم", "می\u200cخواهم"},
		"Sinhala":                   {"ශ්\u200dරී", "ශ්\u200dරී"},
		"Malayalam word end":        {"ന്\u200d ", "ന്\u200d "},
		"annotation":                {"\ufff9a\ufffab\ufffb", "ab"},
		"noncharacters":             {"a\ufdd0\uffff\U0010fffeb", "ab"},
		"Arabic number sign":        {"\u0600١", "\u0600١"},
		"marks painting over lines": {"a" + strings.Repeat("\u0301", 99), "a" + strings.Repeat("\u0301", maxMarks)},
	} {
		if got := Clean(c.in); string(got) != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", name, c.in, got, c.want)
		}
		checkClean(t, c.in)
	}
}

// allowed is written apart from the tables of the package: what the promise
// lets through, by the names of Unicode.
func allowed(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == zwj || r == zwnj:
		return true
	case r == vs15 || r == vs16 || r == 0x180b || r == 0x180c || r == 0x180d || r == 0x180f:
		return true
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Bidi_Control, r), r >= 0xe0000 && r <= 0xe0fff,
		unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Noncharacter_Code_Point, r),
		r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb:
		return false
	}
	return r != 0x200b && r != 0xfeff && r != 0xad && r != 0x3164
}

// checkClean proves the promise for one text.
func checkClean(t *testing.T, in string) string {
	t.Helper()
	out := string(Clean(in))
	if !utf8.ValidString(out) {
		t.Fatalf("Clean(%q) = %q is not UTF-8", in, out)
	}
	for _, r := range out {
		if !allowed(r) {
			t.Fatalf("Clean(%q) = %q holds U+%04X", in, out, r)
		}
	}
	if again := string(Clean(out)); again != out {
		t.Fatalf("Clean(%q) = %q, cleaned again %q", in, out, again)
	}
	if stripped := ansi.Strip(strings.NewReplacer("\n", "", "\t", "").Replace(out)); stripped != strings.NewReplacer("\n", "", "\t", "").Replace(out) {
		t.Fatalf("Clean(%q) = %q holds a sequence", in, out)
	}
	return out
}

// pieces cleans in cut where cuts says, each byte being the length of a piece.
func pieces(in string, cuts []byte) string {
	var c Cleaner
	var out Text
	for _, n := range cuts {
		k := min(int(n), len(in))
		out += c.Write(in[:k])
		in = in[k:]
	}
	return string(out + c.Write(in) + c.Flush())
}

func TestCleanerSplitsAnywhere(t *testing.T) {
	in := "a\r\n\x1b[31mred\x1b[0m 👩🏽\u200d🚀 \x1b]8;;u\x1b\\link\x1b]8;;\a می\u200cخ \xe2\x9b \x9b1mz\r\u202e❤\ufe0f\u200d🔥\xf0\x9f"
	want := string(Clean(in))
	for i := range len(in) + 1 {
		for _, j := range []int{1, 2, 5} {
			if got := pieces(in, []byte{byte(i), byte(j)}); got != want {
				t.Errorf("cut at %d and %d: %q, want %q", i, i+j, got, want)
			}
		}
	}
}

func TestCleanerHoldsLittle(t *testing.T) {
	var c Cleaner
	chunk := strings.Repeat("\x1b]0;aaaa", 1000)
	for range 100 {
		c.Write(chunk)
	}
	if c.out.Cap() != 0 || c.escape.length > maxString {
		t.Errorf("after an endless OSC: holds %d bytes, counts %d", c.out.Cap(), c.escape.length)
	}
	if got := c.Write(strings.Repeat("y", 2*maxString)); len(got) < maxString-8 {
		t.Errorf("text after it: %d characters shown, want at least %d", len(got), maxString-8)
	}
}

func TestCleanerKeepsPlainChunks(t *testing.T) {
	var c Cleaner
	chunk := strings.Repeat("plain text ", 10)
	if n := testing.AllocsPerRun(100, func() { c.Write(chunk) }); n != 0 {
		t.Errorf("a plain chunk costs %v allocations, want 0", n)
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"short", 10, "short"},
		{"a\nb\t\tc\r\n", 10, "a b c"},
		{"much too long", 6, "much …"},
		{"日本語日本語", 5, "日本…"},
		{"\x1b[31mred\x1b[0m", 3, "red"},
		{"anything", 0, ""},
		{"anything", -1, ""},
	} {
		if got := string(Line(c.in, c.max)); got != c.want || ansi.StringWidth(got) > max(c.max, 0) {
			t.Errorf("Line(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	f.Add("plain\ntext\t日本 👩🏽\u200d🚀", []byte{3, 4})
	f.Add("\x1b]0;t\a\x1b[31m\u009b1mx\r\n\xe2\x9b\u202e", []byte{1, 1, 1, 9})
	f.Add("\u0e33a\u200c\u0301❤\ufe0f\u200d\U000e0041\ufe01", []byte{2})
	f.Add("ക്\u200d\u0301\u200dക\x1bP\x9d\x90\x18", []byte{})
	f.Fuzz(func(t *testing.T, in string, cuts []byte) {
		out := checkClean(t, in)
		if got := pieces(in, cuts); got != out {
			t.Fatalf("cut at %v: %q, want %q", cuts, got, out)
		}
		if printable(in) && out != in {
			t.Fatalf("printable %q became %q", in, out)
		}
		sum := 0
		for rest := out; rest != ""; {
			_, width, n, _ := ansi.DecodeSequence(rest, ansi.NormalState, nil)
			sum += width
			rest = rest[n:]
		}
		if w := ansi.StringWidth(out); w != sum {
			t.Fatalf("width(%q) = %d, its cells are %d", out, w, sum)
		}
		if line := string(Line(in, 20)); strings.ContainsAny(line, "\n\t") || ansi.StringWidth(line) > 20 {
			t.Fatalf("Line(%q) = %q", in, line)
		}
		for _, r := range Visible(in) {
			if !unicode.IsPrint(r) && !unicode.Is(visibleFormat, r) && unicode.In(r, unicode.C, unicode.Z) && !unassigned(r) {
				t.Fatalf("Visible(%q) holds U+%04X", in, r)
			}
		}
	})
}

// unassigned characters are shown as they are: Unicode grows every year.
func unassigned(r rune) bool {
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Z)
}

// printable reports text that must pass unchanged: letters, digits, signs,
// plain spaces, and marks as languages use them.
func printable(s string) bool {
	marks := 0
	for _, r := range s {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		if r == utf8.RuneError || marks > maxMarks || !unicode.IsPrint(r) && r != '\n' && r != '\t' ||
			unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return false
		}
	}
	return true
}

func BenchmarkCleanASCII(b *testing.B) {
	s := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Clean(s)
	}
}

func BenchmarkCleanMixed(b *testing.B) {
	s := strings.Repeat("Größe 日本語 \x1b[31mred\x1b[0m 👩🏽\u200d🚀 text. ", 200)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Clean(s)
	}
}
