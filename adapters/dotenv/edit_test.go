package dotenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

func TestWith(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		edit []Edit
		want string
	}{
		"unquoted":            {"A=1\nB=2\n", []Edit{Set("A", "3")}, "A=3\nB=2\n"},
		"single":              {"A='1'\n", []Edit{Set("A", "it's")}, "A='it\\'s'\n"},
		"double":              {"A=\"1\"\n", []Edit{Set("A", `say "x"`)}, "A=\"say \\\"x\\\"\"\n"},
		"inline comment":      {"A=1   # why\nB=2\n", []Edit{Set("A", "2")}, "A=2   # why\nB=2\n"},
		"value needs quotes":  {"A=1 # why\n", []Edit{Set("A", "a #b")}, "A='a #b' # why\n"},
		"leading hash":        {"A=1\n", []Edit{Set("A", "#b")}, "A='#b'\n"},
		"emptied":             {"A=1 # why\n", []Edit{Set("A", "")}, "A='' # why\n"},
		"from empty":          {"A=\nB=\n", []Edit{Set("A", "x")}, "A=x\nB=\n"},
		"export and spaces":   {"export  A = 'x' \n", []Edit{Set("A", "y")}, "export  A = 'y' \n"},
		"crlf":                {"A=1\r\nB=2\r\n", []Edit{Set("A", "3"), Set("C", "4")}, "A=3\r\nB=2\r\nC='4'\r\n"},
		"cr":                  {"A=1\rB=2\r", []Edit{Set("C", "4")}, "A=1\rB=2\rC='4'\r"},
		"bom":                 {"\ufeffA=1\nB=1\n", []Edit{Set("B", "2")}, "\ufeffA=1\nB=2\n"},
		"bom hides the key":   {"\ufeffA=1\n", []Edit{Set("A", "2")}, "\ufeff\nA=2\n"},
		"bom, exported":       {"\ufeffexport A=1\r\n", []Edit{Set("A", "2")}, "\ufeff\r\nexport A=2\r\n"},
		"bom, unset":          {"\ufeffA=1\nB=1\n", []Edit{Unset("A")}, "\ufeff\nB=1\n"},
		"bom, only key":       {"\ufeffA=1", []Edit{Unset("A")}, "\ufeff\n"},
		"bom, another edit":   {"\ufeffA=1\nB=1\n", []Edit{Unset("B")}, "\ufeffA=1\n"},
		"duplicates":          {"A=1\nB=2\nA=3\n", []Edit{Set("A", "4")}, "A=1\nB=2\nA=4\n"},
		"duplicates removed":  {"A=1\n\n# c\nB=2\n  A=3", []Edit{Unset("A")}, "\n# c\nB=2\n"},
		"bare duplicate":      {"A=1\nA # c\n", []Edit{Set("A", "2")}, "A=1\nA=2 # c\n"},
		"bare, comment close": {"A#c\n", []Edit{Set("A", "2")}, "A='2'#c\n"},
		"no final newline":    {"A=1", []Edit{Set("B", "2")}, "A=1\nB='2'"},
		"last, no newline":    {"A=1\nB=2", []Edit{Set("B", "3")}, "A=1\nB=3"},
		"empty file":          {"", []Edit{Set("A", "1")}, "A='1'\n"},
		"invalid UTF-8":       {"# \xff\nA=1\nB=\xc3\n", []Edit{Set("A", "2")}, "# \xff\nA=2\nB=\xc3\n"},
		"sibling": {
			"WHITELIST_MODELS_X=a\nB=1\n",
			[]Edit{Set("IGNORE_MODELS_X", "b*")},
			"WHITELIST_MODELS_X=a\nIGNORE_MODELS_X=b*\nB=1\n",
		},
		"sibling exported": {
			"export IGNORE_MODELS_X=\"a\"\nB=1\n",
			[]Edit{Set("WHITELIST_MODELS_X", "b")},
			"export IGNORE_MODELS_X=\"a\"\nexport WHITELIST_MODELS_X=\"b\"\nB=1\n",
		},
		"both new": {
			"B=1\n",
			[]Edit{Set("IGNORE_MODELS_X", "b"), Set("C", "2"), Set("WHITELIST_MODELS_X", "c")},
			"B=1\nIGNORE_MODELS_X='b'\nWHITELIST_MODELS_X='c'\nC='2'\n",
		},
		"unset missing":          {"A=1\n", []Edit{Unset("B")}, "A=1\n"},
		"later edit counts":      {"A=1\n", []Edit{Set("A", "2"), Unset("A"), Set("A", "3")}, "A=3\n"},
		"old spelling stays":     {"A = \"x\\u\" # c\n", []Edit{Set("A", "x\\u")}, "A = \"x\\u\" # c\n"},
		"line break escaped":     {"A='x'\n", []Edit{Set("A", "a\nb\rc")}, "A=\"a\\nb\\rc\"\n"},
		"multi-line value":       {"A='x\ny' # c\nB=1\n", []Edit{Set("A", "z")}, "A='z' # c\nB=1\n"},
		"injection":              {"A=1\n", []Edit{Set("A", "x\nB=2")}, "A=\"x\\nB=2\"\n"},
		"quote injection":        {"A='1'\n", []Edit{Set("A", "x'\nB='2")}, "A=\"x'\\nB='2\"\n"},
		"open quote above":       {"B='x\nA=1\n", []Edit{Set("A", "2"), Set("C", "3")}, "B='x\nA=2\nC=\"3\"\n"},
		"trailing backslash":     {"A='1'\n", []Edit{Set("A", `x\`)}, "A=x\\\n"},
		"reference, both edited": {"A=1\nB=${A}\n", []Edit{Set("A", "2"), Set("B", "x")}, "A=2\nB=x\n"},
		"reference, same value":  {"A=1\nB=${A:-1}\n", []Edit{Unset("A")}, "B=${A:-1}\n"},
		"reference below":        {"B=${A}\nA=1\n", []Edit{Set("A", "2")}, "B=${A}\nA=2\n"},
		"half a variable":        {"A=1\n", []Edit{Set("A", "${x")}, "A=${x\n"},
	} {
		f := Parse([]byte(test.file))
		got, err := f.With(test.edit...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if string(got.Bytes()) != test.want {
			t.Errorf("%s: %q, want %q", name, got.Bytes(), test.want)
		}
		if string(f.Bytes()) != test.file {
			t.Errorf("%s: the old file changed", name)
		}
	}
}

func TestWithRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		file   string
		edit   Edit
		line   int
		reason string
	}{
		"variable":          {"A=1\n", Set("A", "a${B}c"), 0, "${…}"},
		"variable unedited": {"A=${B}\n", Set("A", "${B}"), 0, "${…}"},
		"NUL":               {"A=1\n", Set("A", "a\x00"), 0, "NUL"},
		"invalid UTF-8":     {"A=1\n", Set("A", "\xff"), 0, "UTF-8"},
		"backslash":         {"A=1\n", Set("A", `a #\`), 1, "backslash"},
		"new key":           {"A=1\n", Set("B C", "1"), 0, "new key"},
		"new key injects":   {"A=1\n", Set("B=1\nC", "1"), 0, "new key"},
		"empty key":         {"A=1\n", Set("", "1"), 0, "new key"},
		"referred to":       {"A=1\nB=${A}\n", Set("A", "2"), 2, "refers to ${A}"},
		"removed, referred": {"A=1\nB=${A:-x}\n", Unset("A"), 2, "refers to ${A}"},
		"referred to twice": {"A=1\nB=x${A}\nC=${B}\n", Set("A", "2"), 2, "refers to ${A}"},
		"duplicate between": {"A=1\nB=${A}\nA=2\n", Unset("A"), 2, "refers to ${A}"},
		"bom, swallowed":    {"\ufeff'A\nB=1\n'=2\n", Set("B", "1"), 1, "which drop the byte order mark"},
		"quotes open":       {"B='x\nC=\"\nA=1 # c\n", Set("A", "a #b"), 1, "cannot be parsed"},
	} {
		got, err := Parse([]byte(test.file)).With(test.edit)
		var refused *RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v, %v, want a refusal", name, got, err)
			continue
		}
		if refused.Line != test.line || !strings.Contains(err.Error(), test.reason) || got != nil {
			t.Errorf("%s: line %d, %v; want line %d, %q", name, refused.Line, err, test.line, test.reason)
		}
	}
}

// TestValueThatIsThereKeepsItsBytes sets keys to what they are set to already, also
// beside an edit: their spelling stays.
func TestValueThatIsThereKeepsItsBytes(t *testing.T) {
	const file = "# c\nexport A =  \"a\\tb\" # x\n\nB='1'\r\nA='two\nlines' #y\nB"
	f := Parse([]byte(file))
	for range 2 {
		at, err := f.With(Set("A", "two\nlines"), Unset("N"))
		if err != nil || string(at.Bytes()) != file {
			t.Fatalf("%q, %v", at.Bytes(), err)
		}
	}
	at, err := f.With(Set("A", "two\nlines"), Set("B", "2"))
	if want := strings.TrimSuffix(file, "B") + "B=2"; err != nil || string(at.Bytes()) != want {
		t.Errorf("%q, %v, want %q", at.Bytes(), err, want)
	}
}

func TestPrintedFormsHoldNoValue(t *testing.T) {
	f := Parse([]byte("A=hunter2\n"))
	_, err := f.With(Set("A", "hunter2\xff"))
	edit := Set("A", "hunter2")
	for _, v := range []any{f, edit, err, []Edit{edit}, struct{ F *File }{f}} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(format, v); strings.Contains(got, "hunter2") {
				t.Errorf("%s of %T prints the value: %s", format, v, got)
			}
		}
	}
}

func TestLists(t *testing.T) {
	for value, want := range map[string]string{
		"": "[]", " , ,": "[]", "a": `["a"]`, " a, b*\t,,c ": `["a" "b*" "c"]`, "a\u00a0,\x1cb": `["a" "b"]`,
	} {
		if got := fmt.Sprintf("%q", SplitList(value)); got != want {
			t.Errorf("SplitList(%q) = %s, want %s", value, got, want)
		}
	}
	for _, bad := range []string{"", "a,b", "a\nb", "a\rb", "${", "a${B}", " a", "a\x1f", "a\x00", "\xff"} {
		_, err := SetList("K", []string{"x", bad})
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "item 2") {
			t.Errorf("SetList(%q) = %v, want a refusal of item 2", bad, err)
		}
	}
	if e, err := SetList("K", nil); err != nil || !e.Unset {
		t.Errorf("SetList of nothing = %v, %v, want a removal", e, err)
	}
	if e, err := SetList("K", []string{"a*", "b"}); err != nil || e.Value != "a*,b" || e.Unset {
		t.Errorf("SetList = %q, %v", e.Value, err)
	}
}

// TestBothGrammarsReadAnEdit edits files that begin with a byte order mark: an edit is
// refused, or versions of python-dotenv that drop the mark read it like those that do not.
func TestBothGrammarsReadAnEdit(t *testing.T) {
	made, refused := 0, 0
	var all []*File
	for _, first := range []string{"", "A=1\n", "'A'=1\n", "'A=1\n", "'A\n", "A='1\n", "A=\"1\n", "export A=1\n", "# c\n", "'\n", "''=\n"} {
		for _, rest := range []string{"", "B=1\n", "B='1'\n", "'B'=1\n", "B=1'\n'=2\n", "IGNORE_MODELS_X='a'\nB=${A}\n"} {
			for _, e := range []Edit{Set("B", "1"), Set("B", "2"), Set("A", "3"), Set("IGNORE_MODELS_X", "b"), Unset("A"), Unset("B")} {
				f := parseFile(bom + first + rest)
				after, err := f.With(e)
				if err != nil {
					refused++
					continue
				}
				made++
				for _, read := range []*File{after, after.successor()} {
					if got, ok := read.Raw(e.Key); ok == e.Unset || ok && got != e.Value {
						t.Errorf("%q with %v: %q reads as %q, %v", f.text, e, read.text, got, ok)
					}
				}
				for _, key := range f.successor().Keys() {
					was, had := f.successor().Raw(key)
					if is, has := after.successor().Raw(key); key != e.Key && (was != is || had != has) {
						t.Errorf("%q with %v: %s was %q, is %q in %q", f.text, e, key, was, is, after.text)
					}
				}
				all = append(all, after)
			}
		}
	}
	if made == 0 || refused == 0 {
		t.Errorf("%d edits made, %d refused", made, refused)
	}
	pythonReads(t, all)
}

// pythonReads compares both grammars with the reference, where it is installed. Newer
// versions read a file with the encoding utf-8-sig.
func pythonReads(t *testing.T, files []*File) {
	t.Helper()
	const program = `import sys, io, json, logging
logging.disable()
try:
    from dotenv import dotenv_values
except ImportError:
    sys.exit(9)
read = lambda text, e: dict(dotenv_values(stream=io.TextIOWrapper(io.BytesIO(text.encode()), encoding=e), interpolate=False))
print(json.dumps([[read(text, "utf-8"), read(text, "utf-8-sig")] for text in json.load(sys.stdin)]))`
	var texts []string
	for _, f := range files {
		texts = append(texts, f.text)
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-c", program)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Logf("python-dotenv is not installed: %v", err)
		return
	}
	var all [][]map[string]*string
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	for n, f := range files {
		for i, read := range []*File{f, f.successor()} {
			for key, want := range all[n][i] {
				got, ok := read.Raw(key)
				if ok != (want != nil) || ok && got != *want {
					t.Errorf("%q: %s reads as %q, %v; python-dotenv disagrees", read.text, key, got, ok)
				}
			}
			if len(read.Keys()) != len(all[n][i]) {
				t.Errorf("%q: keys %q, python-dotenv has %d", read.text, read.Keys(), len(all[n][i]))
			}
		}
	}
}
