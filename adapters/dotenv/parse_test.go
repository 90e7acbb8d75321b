package dotenv

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// golden is one file as python-dotenv 1.2.2 reads it; testdata/golden.py wrote it.
type golden struct {
	File        []byte
	Undecodable bool
	Bindings    [][3]any // key, value, error
	Values      map[string]*string
}

func loadGolden(tb testing.TB) []golden {
	tb.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		tb.Fatal(err)
	}
	var all []golden
	if err := json.Unmarshal(data, &all); err != nil {
		tb.Fatal(err)
	}
	if len(all) < 1000 {
		tb.Fatalf("only %d golden files", len(all))
	}
	return all
}

// realEnv is the environment under which the golden files were read.
func realEnv(name string) (string, bool) { return "world", name == "REAL" }

func TestReadsLikePythonDotenv(t *testing.T) {
	for _, want := range loadGolden(t) {
		f := Parse(want.File)
		if want.Undecodable {
			if len(f.Problems()) == 0 {
				t.Errorf("%q: no problem reported, but Python refuses the file", want.File)
			}
			continue
		}
		if len(f.bindings) != len(want.Bindings) {
			t.Errorf("%q: %d bindings, want %d: %+v", want.File, len(f.bindings), len(want.Bindings), f.bindings)
			continue
		}
		for i, b := range f.bindings {
			var key, value any
			if b.key != "" {
				key = b.key
			}
			if b.hasValue {
				value = b.value
			}
			if got := [3]any{key, value, b.bad}; got != want.Bindings[i] {
				t.Errorf("%q: binding %d = %v, want %v", want.File, i, got, want.Bindings[i])
			}
		}
		for key, value := range want.Values {
			got, ok := f.Get(key, realEnv)
			if ok != (value != nil) || ok && got != *value {
				t.Errorf("%q: Get(%q) = %q, %v", want.File, key, got, ok)
			}
		}
		if len(f.Keys()) != len(want.Values) {
			t.Errorf("%q: keys %q, want %d", want.File, f.Keys(), len(want.Values))
		}
	}
}

func TestBindingsAreTheFile(t *testing.T) {
	for _, g := range loadGolden(t) {
		var all strings.Builder
		for _, b := range Parse(g.File).bindings {
			all.WriteString(b.text)
		}
		if all.String() != string(g.File) {
			t.Errorf("%q: bindings concatenate to %q", g.File, all.String())
		}
	}
}

func TestLine(t *testing.T) {
	f := Parse([]byte("\r\n\r\n# c\r\nA='x\r\ny'\r\rB=1\nA=2"))
	for key, want := range map[string]int{"A": 8, "B": 7, "C": 0, "": 0} {
		if got := f.Line(key); got != want {
			t.Errorf("Line(%q) = %d, want %d", key, got, want)
		}
	}
}

func TestProblems(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		line int
		text string // a part of the problem; "" wants none
	}{
		"none":          {"# c\nA='1' # d\nexport B=\"x\"\n", 0, ""},
		"bom":           {"\ufeffA=1\n", 1, "byte order mark"},
		"bom, comment":  {"\ufeff# c\nA=1\n", 0, ""},
		"unbalanced":    {"B=1\nA='x\n", 2, "unbalanced"},
		"swallowed":     {"A='x\nB='y'\n", 1, "up to line 2"},
		"joined":        {"A=\"x\nB=1\nC=2\"\n", 1, "spans 3 lines"},
		"no key":        {"=1\n", 1, "skipped"},
		"duplicate":     {"A=1\nB=1\nA=2\n", 1, "line 3 sets it again"},
		"invalid UTF-8": {"A=1\nB=\xff\n", 2, "UTF-8"},
	} {
		got := Parse([]byte(test.file)).Problems()
		switch {
		case test.text == "":
			if len(got) > 0 {
				t.Errorf("%s: %v, want none", name, got)
			}
		case len(got) == 0 || got[0].Line != test.line || !strings.Contains(got[0].Text, test.text):
			t.Errorf("%s: %v, want line %d with %q", name, got, test.line, test.text)
		}
	}
}

func TestValuesThatDoubleAreCut(t *testing.T) {
	double := "A=xxxxxxxx\n" + strings.Repeat("A=${A}${A}\n", 40)
	f := Parse([]byte(double + "B=" + strings.Repeat("${A}", 100_000) + "\n" + strings.Repeat("C=${A}\n", 20_000)))
	for _, key := range []string{"A", "B"} {
		if got, ok := f.Get(key, nil); !ok || len(got) != maxResolved {
			t.Errorf("%s: %d bytes, want %d", key, len(got), maxResolved)
		}
	}
	if got, _ := f.Get("C", nil); got != "${A}" {
		t.Errorf("C: %d bytes, want it as it is written", len(got))
	}
	long := strings.Repeat("x", 2*maxResolved)
	if got, _ := Parse([]byte("A="+long)).Get("A", nil); got != long {
		t.Errorf("a value without variables was cut to %d bytes", len(got))
	}
}

func BenchmarkParse(b *testing.B) {
	text := []byte(strings.Repeat("# a comment\nexport SOME_KEY='some value' # why\nOTHER=${SOME_KEY}-x\r\n", 1000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Parse(text)
	}
}
