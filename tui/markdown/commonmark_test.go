package markdown

import (
	"fmt"
	"testing"
)

func TestKindsOfLines(t *testing.T) {
	for line, want := range map[string]string{
		"":           "blank",
		" \t ":       "blank",
		"text":       "",
		"# heading":  "heading",
		"#":          "heading",
		"#no":        "",
		"####### no": "",
		"    # code": "",
		"> quote":    "quote",
		"   >":       "quote",
		"***":        "break",
		"- - -":      "break delimiter item",
		"---":        "break underline delimiter",
		"===":        "underline",
		"|---|:-:|":  "delimiter",
		"- item":     "item",
		"12. item":   "item",
		"12.item":    "",
		"+":          "item",
		"```go":      "fence",
		"~~~ ` x":    "fence",
		"``` a`b":    "",
		"``":         "",
	} {
		l := []byte(line)
		got := ""
		add := func(is bool, kind string) {
			if is && got != "" {
				got += " "
			}
			if is {
				got += kind
			}
		}
		_, item := openItem(l, 0)
		_, _, fence := openFence(l)
		add(isBlank(l), "blank")
		add(isHeading(l), "heading")
		add(isQuote(l), "quote")
		add(isThematicBreak(l), "break")
		add(isSetextUnderline(l), "underline")
		add(isDelimiter(l), "delimiter")
		add(item, "item")
		add(fence, "fence")
		if got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

func TestIndent(t *testing.T) {
	for line, want := range map[string]string{"x": "0 0", "  x": "2 2", "\tx": "4 1", "  \tx": "4 3", " \t x": "5 3", "   ": "3 3"} {
		columns, at := lineIndent([]byte(line))
		if got := fmt.Sprint(columns, at); got != want {
			t.Errorf("Indent(%q) = %s, want %s", line, got, want)
		}
	}
	if columns, _ := indentFrom([]byte("\tx"), 2); columns != 2 {
		t.Errorf("a tab from column 2 is %d wide, want 2", columns)
	}
}

func TestFence(t *testing.T) {
	f, info, ok := openFence([]byte("  ````go run"))
	if !ok || string(info) != "go run" || f != (codeFence{Char: '`', Length: 4, Indent: 2}) {
		t.Fatalf("OpenFence = %+v, %q, %v", f, info, ok)
	}
	for line, want := range map[string][2]bool{
		"````": {true, true}, "`````  ": {true, true}, "```": {false, true}, "~~~~": {false, false}, "````x": {false, false}, "    ````": {false, true}, "": {false, false},
	} {
		if got := [2]bool{f.Closes([]byte(line)), f.MayClose([]byte(line))}; got != want {
			t.Errorf("%q closes, may close: %v, want %v", line, got, want)
		}
	}
}

func TestItem(t *testing.T) {
	for line, want := range map[string]listMarker{
		"- a":      {Char: '-', Size: 1, Pad: 1, Offset: 2},
		"  12) a":  {Char: ')', Number: 12, Size: 3, Pad: 1, Offset: 6},
		"*":        {Char: '*', Size: 1, Pad: 1, Offset: 2, Empty: true},
		"-   a":    {Char: '-', Size: 1, Pad: 3, Offset: 4},
		"-      a": {Char: '-', Size: 1, Pad: 1, Offset: 2}, // it begins with code
	} {
		if got, ok := openItem([]byte(line), 0); !ok || got != want {
			t.Errorf("OpenItem(%q) = %+v, %v, want %+v", line, got, ok, want)
		}
	}
	for line, want := range map[string]bool{"- a": true, "-": false, "1. a": true, "2. a": false, "> a": true, "text": false, "# a": true, "```": true} {
		if got := interrupts([]byte(line)); got != want {
			t.Errorf("Interrupts(%q) = %v, want %v", line, got, want)
		}
	}
}
