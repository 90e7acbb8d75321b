package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSetChangesTheValueAndNoOtherByte(t *testing.T) {
	for name, c := range map[string]struct{ file, key, value, want string }{
		"a string": {
			"# mine\r\ntheme   =  \"auto\"   # by day\r\nmouse = true\r\n", "theme", "light",
			"# mine\r\ntheme   =  \"light\"   # by day\r\nmouse = true\r\n",
		},
		"a truth value":         {"mouse=false#no\n", "mouse", "true", "mouse=true#no\n"},
		"a number":              {"max_iterations = 10 \n[keys.view]\nraw = \"v\"\n", "max_iterations", "20", "max_iterations = 20 \n[keys.view]\nraw = \"v\"\n"},
		"a literal string":      {"theme = 'dark'", "theme", "auto", `theme = "auto"`},
		"a quoted key":          {"\"theme\" = 'dark'\n", "theme", "auto", "\"theme\" = \"auto\"\n"},
		"no file":               {"", "theme", "dark", "theme = \"dark\"\n"},
		"no end of line":        {"mouse = true", "theme", "dark", "mouse = true\ntheme = \"dark\"\n"},
		"before a table":        {"mouse = true\n\n# an endpoint\n[[provider]]\nname = \"a\"\nbase_url = \"https://a.b/v1\"\n", "theme", "dark", "mouse = true\ntheme = \"dark\"\n\n# an endpoint\n[[provider]]\nname = \"a\"\nbase_url = \"https://a.b/v1\"\n"},
		"only a table":          {"[keys.view]\nraw = [\"v\"]\n", "theme", "dark", "theme = \"dark\"\n[keys.view]\nraw = [\"v\"]\n"},
		"where the template is": {"# the colours\n#theme = \"auto\"\n# more\n#mouse = false\n", "theme", "dark", "# the colours\n#theme = \"auto\"\ntheme = \"dark\"\n# more\n#mouse = false\n"},
		"CRLF":                  {"mouse = true\r\n", "theme", "dark", "mouse = true\r\ntheme = \"dark\"\r\n"},
		"a theme by name":       {"theme = \"dusk-light\"\n", "theme", "ember", "theme = \"ember\"\n"},
		"a time":                {"idle_timeout = \"90s\"\n", "idle_timeout", "2m", "idle_timeout = \"2m\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "folder", "config.toml")
			if c.file != "" {
				putFile(t, path, c.file, 0o640)
			}
			if err := Set(path, c.key, c.value, themes); err != nil {
				t.Fatal(err)
			}
			if got := fileText(t, path); got != c.want {
				t.Errorf("the file says\n%q, want\n%q", got, c.want)
			}
			mode := os.FileMode(0o640)
			if c.file == "" {
				mode = 0o600
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("the file has mode %v, %v; want %v", info.Mode(), err, mode)
			}
			left, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(left) != 1 {
				t.Errorf("beside it there are %v", left)
			}
		})
	}
}

func TestSetThroughTheTemplate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	putFile(t, path, Template(themes), 0o600)
	for _, k := range All(themes) {
		value := k.Default
		if k.Key == "model" {
			value = `a/b "c" \d`
		}
		if err := Set(path, k.Key, value, themes); err != nil {
			t.Fatalf("%s: %v", k.Key, err)
		}
	}
	s, err := Load(Options{Path: path, Required: true, Themes: themes})
	if err != nil || s.Model != `a/b "c" \d` {
		t.Fatalf("model %q, %v", s.Model, err)
	}
	for _, k := range All(themes) {
		if s.Origins[k.Key].From != "file" {
			t.Errorf("%s comes from %v", k.Key, s.Origins[k.Key])
		}
	}
}

func TestSetKeepsALink(t *testing.T) {
	dir := t.TempDir()
	putFile(t, filepath.Join(dir, "dots", "winnow.toml"), "mouse = true\n", 0o600)
	link := filepath.Join(dir, "config.toml")
	if err := os.Symlink(filepath.Join("dots", "winnow.toml"), link); err != nil {
		t.Skip("no links here:", err)
	}
	if err := Set(link, "mouse", "false", nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
	if got := fileText(t, filepath.Join(dir, "dots", "winnow.toml")); got != "mouse = false\n" {
		t.Errorf("the file says %q", got)
	}
}

func TestSetRefusesAndLeavesTheFile(t *testing.T) {
	for name, c := range map[string]struct{ file, key, value, want string }{
		"an unknown key":       {"mouse = true\n", "theem", "dark", "theme"},
		"a wrong value":        {"mouse = true\n", "theme", "pink", "not one of"},
		"a file with a fault":  {"mouse = tru\n", "theme", "dark", ""},
		"an unknown key in it": {"mous = true\n", "theme", "dark", "mouse"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			putFile(t, path, c.file, 0o600)
			err := Set(path, c.key, c.value, themes)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Set = %v, want it to say %q", err, c.want)
			}
			if got := fileText(t, path); got != c.file {
				t.Errorf("the file says %q now", got)
			}
		})
	}
}

func putFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func FuzzSet(f *testing.F) {
	f.Add("theme = \"auto\" # x\n", "theme", "dark")
	f.Add("# a\n#mouse = false\n[keys.view]\nraw = \"v\"\n", "mouse", "true")
	f.Add("mouse = true\r\n\r\n[[provider]]\nname='a'\nbase_url='https://a.b'\n", "max_iterations", "7")
	f.Add("a = '''\n[x]\n'''\n", "theme", "dark")
	f.Fuzz(func(t *testing.T, file, key, value string) {
		path := filepath.Join(t.TempDir(), "config.toml")
		putFile(t, path, file, 0o600)
		if err := Set(path, key, value, nil); err != nil {
			if got := fileText(t, path); got != file {
				t.Fatalf("refused (%v), yet the file %q says %q", err, file, got)
			}
			return
		}
		s, err := Load(Options{Path: path, Required: true, Themes: themes})
		if err != nil {
			t.Fatalf("%q with %s = %s cannot be read: %v", file, key, value, err)
		}
		if s.Origins[key].From != "file" {
			t.Fatalf("%q with %s = %s does not say so", file, key, value)
		}
	})
}

// themes are what a program offers.
var themes = []string{"dusk", "ember"}
