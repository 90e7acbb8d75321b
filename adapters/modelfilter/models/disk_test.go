package models

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/checkpoint/privatefile"
)

// storedFile fetches a list, changes its file, and returns its path.
func storedFile(t *testing.T, r *rig, change func([]byte) []byte) string {
	t.Helper()
	r.has(acmeBase, "a", "b")
	must(t, r.lists(), "acme")
	path := disk(r.dir).path("acme")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sealed is a record with the sum that belongs to it.
func sealed(record string) []byte {
	return []byte(privatefile.Sum([]byte(record)) + "\n" + record)
}

func TestDamagedFile(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"empty":            func([]byte) []byte { return nil },
		"zeros":            func(b []byte) []byte { return make([]byte, len(b)) },
		"cut":              func(b []byte) []byte { return b[:len(b)/2] },
		"a flipped letter": func(b []byte) []byte { return []byte(strings.Replace(string(b), `"name":"a"`, `"name":"c"`, 1)) },
		"another provider": func([]byte) []byte { return sealed(`{"provider":"evil","source":"live","models":[{"name":"x"}]}`) },
		"another source":   func([]byte) []byte { return sealed(`{"provider":"acme","source":"x","models":[{"name":"x"}]}`) },
		"no models":        func([]byte) []byte { return sealed(`{"provider":"acme","source":"live"}`) },
		"odd types":        func([]byte) []byte { return sealed(`{"provider":"acme","source":"live","models":"no"}`) },
		"only escapes": func([]byte) []byte {
			return sealed(`{"provider":"acme","source":"live","models":[{"name":"\u001b[2J"}]}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := withAcme(t)
			path := storedFile(t, r, change)
			spoilt, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			l := r.lists()
			list, ok := l.Cached("acme")
			if ok {
				t.Errorf("read as %+v", list)
			}
			contains(t, list.Err, "damaged")
			list = must(t, l, "acme")
			is(t, "IDs", list.IDs, full("acme", "a", "b"))
			is(t, "New", list.New, nil)
			if aside, err := os.ReadFile(path + ".damaged"); err != nil || string(aside) != string(spoilt) {
				t.Errorf("set aside: %d bytes, %v", len(aside), err)
			}
			if list, ok := r.lists().Cached("acme"); !ok || list.Err != "" {
				t.Errorf("in the next run: %+v", list)
			}
		})
	}
}

// A well-sealed file of somebody else cannot bring in what a fetch could not.
func TestForeignFile(t *testing.T) {
	r := withAcme(t)
	storedFile(t, r, func([]byte) []byte {
		return sealed(`{"provider":"acme","source":"live","seen":["z","b","a"],"unknown":7,"models":[{"name":"b"},{"name":"\u001b[2J"},{"name":"a"},{"name":"b"}]}`)
	})
	list, ok := r.lists().Cached("acme")
	if !ok {
		t.Fatal("not read")
	}
	is(t, "IDs", list.IDs, full("acme", "a", "b"))
	is(t, "New", list.New, nil)
}

func TestFileThatIsNoFile(t *testing.T) {
	r := withAcme(t)
	path := storedFile(t, r, slices.Clone)
	target := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(path, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
	l := r.lists()
	if list, ok := l.Cached("acme"); ok || list.Err == "" {
		t.Errorf("a link was followed: %+v", list)
	}
	before, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	r.has(acmeBase, "a", "b", "c")
	if list := must(t, l, "acme"); list.Err == "" || len(list.IDs) != 3 {
		t.Errorf("%+v", list)
	}
	if after, err := os.ReadFile(target); err != nil || string(after) != string(before) {
		t.Errorf("written through a link: %v", err)
	}
}

func TestFailedSaveLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	d := disk(dir)
	if err := os.MkdirAll(filepath.Join(d.path("acme"), "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := d.update(t.Context(), record{Provider: "acme"}, true, func(*record) {}); err == nil {
		t.Error("saved over a folder")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestFileNames(t *testing.T) {
	d := disk("dir")
	seen := map[string]string{}
	for _, provider := range []string{
		"openai", "a_b", "a-b", "a.b", "..", "../x", "a/b", "", ".", "con\x00", strings.Repeat("x", 300), "ж", "+" + strings.Repeat("0", 32),
	} {
		path := d.path(provider)
		if filepath.Dir(path) != "dir" || len(filepath.Base(path)) > 80 || strings.ContainsAny(path, "\x00") {
			t.Errorf("%q is stored in %q", provider, path)
		}
		if other, exists := seen[path]; exists {
			t.Errorf("%q and %q share %q", provider, other, path)
		}
		seen[path] = provider
	}
}

func FuzzStoredList(f *testing.F) {
	for _, record := range []string{
		`{"provider":"acme","source":"live","at":"2026-11-21T12:00:00Z","base":"https://x","models":[{"name":"b"},{"name":"a"}],"seen":["a"],"gone":["q"]}`,
		`{"provider":"acme","source":"proxy","models":[{"name":"\u202e"},{"name":"\u0000"}]}`,
		`{}`, `null`, `[]`, `{"provider":"acme","models":null}`,
	} {
		f.Add(record)
	}
	f.Fuzz(func(t *testing.T, record string) {
		d := disk(t.TempDir())
		if err := os.WriteFile(d.path("acme"), sealed(record), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := d.load("acme")
		if err != nil {
			if !errors.Is(err, privatefile.ErrDamaged) || r != nil {
				t.Fatalf("%v, %v", r, err)
			}
			return
		}
		if len(r.Models) == 0 || !slices.IsSortedFunc(r.Models, byName) {
			t.Fatalf("models %v", r.Models)
		}
		for _, m := range r.Models {
			if !usable(m.Name) {
				t.Fatalf("name %q", m.Name)
			}
		}
		r.markSeen(nil)
		for _, name := range r.newNames("") {
			if slices.Contains(r.Seen, name) {
				t.Fatalf("%q is new and seen", name)
			}
		}
	})
}

func FuzzModels(f *testing.F) {
	for _, s := range []string{"gpt-5\ngpt-4\ngpt-5", "\x1b[31m\n \n\xff", "models/x\nmodels/", "ж\u2028\n\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var infos fixed
		for _, name := range strings.Split(s, "\n") {
			infos = append(infos, infoOf("p/"+name))
		}
		list, dropped := modelsOf(infos, Target{Name: "p", idPrefix: "models/"})
		if dropped < 0 || len(list)+dropped > len(infos) {
			t.Fatalf("%d left, %d dropped of %d", len(list), dropped, len(infos))
		}
		for i, m := range list {
			if !usable(m.Name) || i > 0 && list[i-1].Name >= m.Name {
				t.Fatalf("list %q", names(list))
			}
		}
	})
}
