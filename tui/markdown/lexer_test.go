package markdown

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/charmbracelet/x/ansi"
)

func TestLanguagesByName(t *testing.T) {
	for name, want := range map[string]string{
		"go": "Go", "Go": "Go", "py": "Python", "python3": "Python", "js": "JavaScript", "ts": "TypeScript", "sh": "Bash", "zsh": "Bash", "yml": "YAML",
		"c++": "C++", "cpp": "C++", "rs": "Rust", "golang": "Go", "main.go": "Go", "src/a/main.py": "Python", "Dockerfile": "Docker", "json": "JSON", "jsonc": "JSON",
		"makefile": "Makefile", "postgresql": "SQL", "diff": "Diff", "html": "HTML", "tsx": "TypeScript", "jsx": "react", "vim": "VimL",
		"": "", "text": "", "unknown": "", "a.unknown": "", ".": "", "/": "", "openedge": "",
	} {
		got := ""
		if l := lexer(name); l != nil {
			got = l.Config().Name
		}
		if got != want {
			t.Errorf("%q is coloured as %q, want %q", name, got, want)
		}
	}
}

// A lexer ends, and takes over a piece of the worst code that we know no more than a bounded
// number of times what the one of Go takes over ordinary code. Of two runs the faster counts.
func TestLexersAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("all languages; the race detector finds nothing more in this")
	}
	const most = 100
	took := func(l chroma.Lexer, unit string) time.Duration {
		src := strings.Repeat(unit, longCode/2/len(unit)) + "\n"
		src = strings.Repeat(src, maxCode/len(src))
		began := time.Now()
		look.highlight(l, delimiters{}, delimiters{}, src)
		return time.Since(began)
	}
	ordinary := min(took(lexer("go"), "x = 1\n"), took(lexer("go"), "x = 1\n"))
	for name := range strings.FieldsSeq(coloured) {
		l := chroma.Coalesce(lexers.Get(strings.ReplaceAll(name, "_", " ")))
		for _, unit := range []string{"a", "\n", "\n  ", "{{", "<?", "a-a-", "//", "--", `\"`} {
			d := took(l, unit)
			if d > most*ordinary {
				d = min(d, took(l, unit))
			}
			if d > most*ordinary {
				t.Errorf("%s: %q takes %.0f times as long as ordinary code, want at most %d", name, unit, float64(d)/float64(ordinary), most)
			}
		}
	}
}

// fastest is the shorter time of two runs: what others on the machine take is left out.
func fastest(do func()) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range 2 {
		began := time.Now()
		do()
		best = min(best, time.Since(began))
	}
	return best
}

// A fence costs about what a paragraph costs, whatever its language is called, and blank
// lines of code what other lines cost.
func TestFencesCostWhatParagraphsCost(t *testing.T) {
	const n = 300
	took := func(text func(i int) string) time.Duration {
		var b strings.Builder
		for i := range n {
			b.WriteString(text(i))
		}
		return fastest(func() {
			d := New(look)
			d.Append(b.String())
			d.Finish()
			d.Lines(100)
		})
	}
	paragraphs := took(func(int) string { return "a paragraph\n\n" })
	for name, text := range map[string]func(int) string{
		"no language":       func(int) string { return "```\na\n```\n" },
		"unknown language":  func(int) string { return "``` zzz\na\n```\n" },
		"unknown languages": func(i int) string { return fmt.Sprintf("``` z%d\na\n```\n", i) },
		"names of files":    func(i int) string { return fmt.Sprintf("``` a/z%d.b.c.d.zz\na\n```\n", i) },
		"in a quote":        func(i int) string { return fmt.Sprintf("> ``` z%d\n> a\n> ```\n\n", i) },
		"in an item":        func(i int) string { return fmt.Sprintf("- ``` z%d\n  a\n  ```\n", i) },
	} {
		if d := took(text); d > 10*paragraphs {
			t.Errorf("%s: %d fences take %.0f times as long as paragraphs", name, n, float64(d)/float64(paragraphs))
		}
	}
	code := func(line string) time.Duration {
		return took(func(i int) string {
			if i == 0 {
				return "```c\n"
			}
			return line
		})
	}
	lines := code("x;\n")
	if d := code("\n\n\n\n\n"); d > 10*lines {
		t.Errorf("blank lines of code take %.0f times as long as others", float64(d)/float64(lines))
	}
}

// Blank lines that no lexer sees are there all the same.
func TestBlankLinesOfCodeStay(t *testing.T) {
	for _, blanks := range []int{0, 1, 2, 3, 50} {
		src := "\n\n\n\nfunc f() {" + strings.Repeat("\n", blanks+1) + "\treturn // nothing" + strings.Repeat("\n", blanks+1) + "}"
		var want []string
		for line := range strings.SplitSeq(src, "\n") {
			want = append(want, strings.ReplaceAll(line, "\t", "    "))
		}
		lines, _ := look.highlight(lexer("go"), delimiters{}, delimiters{}, src)
		for i := range lines {
			lines[i] = ansi.Strip(lines[i])
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%d blank lines: %q, want %q", blanks, lines, want)
		}
	}
}
