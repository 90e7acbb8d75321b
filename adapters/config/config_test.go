package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// write makes a configuration file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOrderIsFlagEnvironmentFileDefault(t *testing.T) {
	path := write(t, "confirm = \"always\"\nmax_iterations = 7\ntheme = \"dark\"\n")
	s, err := Load(Options{
		Path:     path,
		Environ:  []string{"WINNOW_CONFIRM=never", "WINNOW_MAX_ITERATIONS=8", "WINNOW_IDLE_TIMEOUT="},
		Override: []Flag{{"--confirm", "confirm", "save"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]struct {
		value string
		from  string
		line  int
	}{
		"confirm":        {"save", "flag", 0},
		"max_iterations": {"8", "environment", 0},
		"theme":          {"dark", "file", 3},
		"idle_timeout":   {"2m0s", "default", 0}, // an empty variable is none
	} {
		i := slices.IndexFunc(All(nil), func(k Setting) bool { return k.Key == key })
		o := s.Origins[key]
		if got := All(nil)[i].Show(s); got != want.value || o.From != want.from || o.Line != want.line {
			t.Errorf("%s = %s from %s, line %d; want %s from %s, line %d", key, got, o.From, o.Line, want.value, want.from, want.line)
		}
	}
}

func TestErrorsNameTheLineAndTheNearestKey(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":       {"\nsend_kye = \"enter\"", `:2: "send_kye" is not a setting; did you mean "send_key"?`},
		"far from all":      {"zebra = 1", `:1: "zebra" is not a setting; winnow help settings lists all names`},
		"unknown table":     {"[key.view]\nx = \"y\"", `:1: "key.view" is not a setting; did you mean "keys"?`},
		"wrong value":       {"confirm = \"sometimes\"", `:1: confirm: "sometimes" is not one of save, always, never`},
		"wrong kind":        {"max_iterations = \"many\"", `:1: max_iterations: "many" is not a whole number from 1 to 100`},
		"out of range":      {"max_iterations = 0", `:1: max_iterations: "0" is not a whole number`},
		"a list":            {"theme = [\"dark\"]", `:1: theme: a single value is expected, not a list`},
		"a table":           {"theme.name = \"dark\"", `:1: theme.name: theme takes a single value, not a table`},
		"no time":           {"idle_timeout = \"soon\"", `:1: idle_timeout: "soon" is not a duration of at most 24h, such as 90s`},
		"no mode":           {"[keys.veiw]\nup = \"k\"", `:2: "veiw" is not a mode; did you mean "view"?`},
		"single brackets":   {"[provider]\nname = \"a\"", `:1: provider: write [[provider]] with double brackets`},
		"provider key":      {"[[provider]]\nname = \"a\"\nbaseurl = \"x\"", `:3: "baseurl" is not a key of a provider; did you mean "base_url"?`},
		"provider no name":  {"[[provider]]\nbase_url = \"x\"", `:1: provider: name is missing`},
		"provider no url":   {"\n\n[[provider]]\nname = \"a\"", `:3: provider a: base_url is missing`},
		"provider twice":    {"[[provider]]\nname=\"a\"\nbase_url=\"x\"\n[[provider]]\nname=\"a\"\nbase_url=\"y\"", `:4: provider a: the provider on line 1 has the same name`},
		"provider slash":    {"[[provider]]\nname=\"a/b\"\nbase_url=\"x\"", `:1: provider: the name "a/b" must not contain a slash`},
		"keys no table":     {"keys = 1", `:1: `},
		"mode no table":     {"[keys]\nview = \"k\"", `:2: a value of type string is not accepted here`},
		"mode in a list":    {"[[keys.view]]\na = \"k\"", `:1: `},
		"action is a table": {"[keys.view.up]\na = \"k\"", `:1: keys.view.up: is neither a key nor a list of keys`},
		"key is a number":   {"[keys.view]\nup = [\"k\", 1]", `:2: keys.view.up: is neither a key nor a list of keys`},
		"provider by index": {"[provider.0]\nname = \"a\"", `:1: provider: write [[provider]]`},
		"provider case":     {"[[provider]]\nname = \"a\"\nBase_URL = \"x\"", `:3: "Base_URL" is not a key of a provider; did you mean "base_url"?`},
		"provider kind":     {"[[provider]]\nname = 1", `:2: a value of type integer is not accepted here`},
		"provider no table": {"provider = [1]", `:1: `},
		"not closed":        {"theme = \"dark", `:1: `},
		"key twice":         {"mouse = true\nmouse = false", `:2: `},
		"escape in a value": {"theme = \"\\u001b[2J\"", `:1: theme: "‹U+001B›[2J" is not one of`},
	} {
		_, err := Load(Options{Path: write(t, c.text)})
		var fault *Error
		if !errors.As(err, &fault) {
			t.Errorf("%s: Load = %v, want an *Error", name, err)
			continue
		}
		if !strings.Contains(err.Error(), "config.toml"+c.want) {
			t.Errorf("%s: %q, want …%q…", name, err, c.want)
		}
	}
}

func TestAllErrorsAreReportedTogether(t *testing.T) {
	_, err := Load(Options{Path: write(t, "a1 = 1\nb1 = 2\ntheme = \"x\"")})
	if n := strings.Count(fmt.Sprint(err), "\n"); n != 2 {
		t.Errorf("Load returned %d errors, want 3: %v", n+1, err)
	}
}

func TestAMissingFileIsAnErrorOnlyWhenNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.toml")
	if s, err := Load(Options{Path: path}); err != nil || s.Found {
		t.Errorf("Load of no file = %v, %v; want the defaults", s, err)
	}
	if _, err := Load(Options{Path: path, Required: true}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("Load of a named file that is missing = %v, want no such file", err)
	}
	if _, err := Load(Options{Path: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Load of a folder = %v, want not a regular file", err)
	}
}

func TestKeysAndProviders(t *testing.T) {
	s, err := Load(Options{Path: write(t, `
[keys.view]
boundary = ["O", "o"]
"toggle item" = "space"
[keys.input]
send = []
[[provider]]
name = "router"
base_url = "https://router.example/v1"
api_key = "env:ROUTER_KEY"
headers = { X-Title = "winnow" }
models = ["a/b", "c"]
context_window = 65536
`)})
	if err != nil {
		t.Fatal(err)
	}
	want := []Binding{{"view", "boundary", []string{"O", "o"}, 3}, {"view", "toggle item", []string{"space"}, 4}, {"input", "send", nil, 6}}
	if fmt.Sprint(s.Keys) != fmt.Sprint(want) {
		t.Errorf("Keys = %v, want %v", s.Keys, want)
	}
	if len(s.Providers) != 1 {
		t.Fatalf("Providers = %v, want one", s.Providers)
	}
	p := s.Providers[0]
	if p.Name != "router" || p.Line != 7 || p.ContextWindow != 65536 || len(p.Models) != 2 || p.Headers["X-Title"] != "winnow" {
		t.Errorf("Providers[0] = %+v", p)
	}
}

func TestTheTemplateLoads(t *testing.T) {
	if _, err := Load(Options{Path: write(t, Template(nil))}); err != nil {
		t.Errorf("Load(Template(nil)) = %v", err)
	}
	// With its lines uncommented it sets the defaults.
	var lines []string
	for line := range strings.Lines(Template(nil)) {
		if strings.HasPrefix(line, "#[keys") {
			break
		}
		if after, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(line, "# ") {
			lines = append(lines, after)
		}
	}
	s, err := Load(Options{Path: write(t, strings.Join(lines, ""))})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range All(nil) {
		// A span is written as Go prints it: the same value, maybe another text.
		if k.Show(s) != k.Default || s.Origins[k.Key].From != "file" {
			t.Errorf("%s = %q from %s, want %q from the file", k.Key, k.Show(s), s.Origins[k.Key].From, k.Default)
		}
	}
}

func TestThemes(t *testing.T) {
	themes := []string{"dusk", "high-contrast"}
	for theme, want := range map[string][2]string{
		"auto": {"", "auto"}, "dark": {"", "dark"}, "light": {"", "light"}, "dusk": {"dusk", "auto"}, "dusk-dark": {"dusk", "dark"},
		"high-contrast": {"high-contrast", "auto"}, "high-contrast-light": {"high-contrast", "light"},
	} {
		s, err := Load(Options{Path: write(t, "theme = '"+theme+"'"), Themes: themes})
		if err != nil {
			t.Errorf("%s: %v", theme, err)
			continue
		}
		if name, background := s.Background(); name != want[0] || background != want[1] {
			t.Errorf("%s is %q on %q, want %q", theme, name, background, want)
		}
	}
	for theme, want := range map[string]string{
		"dsk":         `theme: "dsk" is not one of auto, dark, light, dusk, high-contrast; the last 2 also with -dark or -light at the end; did you mean "dusk"?`,
		"dark-light":  `"dark-light" is not one of`,
		"auto-dark":   `"auto-dark" is not one of`,
		"dusk-dark-x": `"dusk-dark-x" is not one of`,
		"-dark":       `"-dark" is not one of`,
	} {
		if _, err := Load(Options{Path: write(t, "theme = '"+theme+"'"), Themes: themes}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", theme, err, want)
		}
	}
	if _, err := Load(Options{Environ: []string{"WINNOW_THEME=dusk"}}); err == nil {
		t.Error("a theme that nobody named is accepted")
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"Theme": "theme", "tehme": "theme", "thème": "theme", "t": "", "mousse": "mouse", "nothing like it": "", strings.Repeat("x", 200): "",
	} {
		if got := Nearest(name, []string{"mouse", "theme"}); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestSpansAreSecondsWhenBare(t *testing.T) {
	s, err := Load(Options{Path: write(t, "idle_timeout = 90\nfirst_byte_timeout = \"2m\"")})
	if err != nil || s.IdleTimeout != 90*time.Second || s.FirstByteTimeout != 2*time.Minute {
		t.Errorf("Load = %v, %v", s, err)
	}
}

// FuzzLoad: no file breaks the reader, and one that is accepted gives settings
// within their bounds.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"", "theme = 'dark'", Template(nil), "[keys.view]\na=['b']", "[[provider]]\nname='a'\nbase_url='b'", "a={b={c=1}}", "provider=1", "provider=[1]", "keys=[]", "\xef\xbb\xbfmouse=true", "[provider.0]\nname='x'", "keys.view={a='b'}", "mouse=true\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &Settings{Origins: map[string]Origin{}}
		for _, k := range All(nil) {
			if err := k.set(s, k.Default); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.readFile("f", data); err != nil {
			var fault *Error
			if !errors.As(err, &fault) {
				t.Fatalf("readFile = %v, want an *Error", err)
			}
			return
		}
		if s.MaxIterations < 1 || s.IdleTimeout <= 0 || !(s.CharsPerToken > 0) {
			t.Fatalf("accepted %q: %+v", data, s)
		}
		for _, p := range s.Providers {
			if p.Name == "" || p.BaseURL == "" {
				t.Fatalf("accepted %q: %+v", data, p)
			}
		}
	})
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "[]",
		"  a  b\tc\n":             "[a b c]",
		`'a b' "c d" e\ f`:        "[a b|c d|e f]",
		`a'b'"c"\d`:               "[abcd]",
		`'' ""`:                   "[|]",
		`"a \" \\ \n b"`:          `[a " \ \n b]`,
		`'a \ " b'`:               `[a \ " b]`,
		`$HOME; *.txt | ~ & "$X"`: "[$HOME; *.txt | ~ & $X]",
		"vim -c 'set tw=72'":      "[vim -c|set tw=72]",
	} {
		words, err := SplitWords(in)
		if got := "[" + strings.Join(words, "|") + "]"; strings.ReplaceAll(got, "|", " ") != strings.ReplaceAll(want, "|", " ") || err != nil {
			t.Errorf("Words(%q) = %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"'a", `"a`, `a\`, `a "b`, `a'b`, `"a\"`} {
		if words, err := SplitWords(in); err == nil {
			t.Errorf("Words(%q) = %q, want an error", in, words)
		}
	}
}

func TestEnvironmentAndFlagsAreChecked(t *testing.T) {
	for want, o := range map[string]Options{
		`WINNOW_MAX_ITERATIONS: "0" is not a whole number from 1 to 100`:                 {Environ: []string{"WINNOW_MAX_ITERATIONS=0"}},
		`WINNOW_MOUSE: "maybe" is neither true nor false`:                                {Environ: []string{"WINNOW_MOUSE=maybe"}},
		`--log-level: "loud" is not one of info, error, warning, debug`:                  {Override: []Flag{{"--log-level", "log_level", "loud"}}},
		`WINNOW_CHARS_PER_TOKEN: "NaN" is not a number from 0.5 to 20`:                   {Environ: []string{"WINNOW_CHARS_PER_TOKEN=NaN"}},
		`WINNOW_IDLE_TIMEOUT: "25h" is not a duration of at most 24h, such as 90s or 2m`: {Environ: []string{"WINNOW_IDLE_TIMEOUT=25h"}},
		`WINNOW_IDLE_TIMEOUT: "-1" is not a duration of at most 24h, such as 90s or 2m`:  {Environ: []string{"WINNOW_IDLE_TIMEOUT=-1"}},
	} {
		if _, err := Load(o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Load(%+v) = %v, want %s", o, err, want)
		}
	}
}

func TestEverySettingHasADefaultAndHelp(t *testing.T) {
	s, err := Load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, k := range All(nil) {
		if k.Help == "" || seen[k.Key] || k.Show(s) != k.Default || k.Env() != "WINNOW_"+strings.ToUpper(k.Key) {
			t.Errorf("%+v shows %q", k, k.Show(s))
		}
		seen[k.Key] = true
		if o := s.Origins[k.Key]; o.From != "default" || o.String() != "default" {
			t.Errorf("%s comes from %v", k.Key, o)
		}
	}
	if len(seen) != 31 {
		t.Errorf("%d settings, want 31", len(seen))
	}
}

func TestReplaceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "file")
	for _, text := range []string{"one", "two"} {
		if err := replaceFile(path, 0o640, []byte(text)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if string(data) != text || err != nil || statErr != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("the file is %q, %v, %v", data, err, info)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if folder, statErr := os.Stat(filepath.Dir(path)); len(left) != 1 || err != nil || statErr != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("beside it there are %v; the folder is %v", left, folder.Mode())
	}
	if err := replaceFile(t.TempDir(), 0o600, nil); err == nil {
		t.Error("a folder was replaced by a file")
	}
}

func TestAFileIsBoundedInSize(t *testing.T) {
	path := write(t, "# "+strings.Repeat("x", maxSize))
	if _, err := Load(Options{Path: path}); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("Load = %v, want that it is too large", err)
	}
}
