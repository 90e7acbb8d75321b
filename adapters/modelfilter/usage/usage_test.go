package usage

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sample returns a data folder with the samples of the proxy's files.
func sample(t testing.TB) string {
	t.Helper()
	data := t.TempDir()
	if err := os.CopyFS(filepath.Join(data, "usage"), os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	return data
}

// store writes the usage file of acme.
func store(t testing.TB, data, text string) string {
	t.Helper()
	path := filepath.Join(data, "usage", "usage_acme.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUseIsSummedOverCredentials(t *testing.T) {
	r, err := Open(sample(t), nil).Report("openai")
	if err != nil {
		t.Fatal(err)
	}
	want := Use{Requests: 324, Tokens: 158760, Cost: 1.0044, First: time.Unix(1790672800, 0).UTC(), Last: time.Unix(1794996400, 0).UTC()}
	for _, name := range []string{"gpt-5", "openai/gpt-5"} {
		got, ok := r.ForModel(name)
		if got.Cost = float64(int(got.Cost*1e4+0.5)) / 1e4; !ok || got != want {
			t.Errorf("Of(%q) = %+v, %v, want %+v", name, got, ok, want)
		}
	}
	if got, ok := r.ForModel("openai/never-used"); !ok || got != (Use{}) {
		t.Errorf("a model that is not in the file: %+v, %v, want 0 requests, known", got, ok)
	}
}

func TestModelNamesMayContainSlashes(t *testing.T) {
	r, err := Open(sample(t), nil).Report("nvidia_nim")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.ForModel("nvidia_nim/deepseek-ai/deepseek-r1"); got.Requests != 5 {
		t.Errorf("%+v, want 5 requests", got)
	}
}

func TestUseIsUnknownWithoutAFile(t *testing.T) {
	for name, d := range map[string]*Dir{"another provider": Open(sample(t), nil), "no folder": Open(filepath.Join(t.TempDir(), "x"), nil), "nil": nil, "zero": {}} {
		for _, provider := range []string{"anthropic", "", "../usage/usage_openai", `..\x`} {
			r, err := d.Report(provider)
			if _, known := r.ForModel("a"); known || err != nil {
				t.Errorf("%s: Report(%q) is known, %v", name, provider, err)
			}
		}
	}
}

func TestAChangedFileIsReadAgain(t *testing.T) {
	data := t.TempDir()
	d := Open(data, nil)
	for n := 1; n <= 3; n++ {
		path := store(t, data, fmt.Sprintf(`{"schema_version":2,"credentials":{"c":{"model_usage":{"m":{"totals":{"request_count":%d}}}}}}`, n))
		when := time.Unix(int64(1_700_000_000+n), 0)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		r, err := d.Report("acme")
		if got, _ := r.ForModel("m"); err != nil || got.Requests != int64(n) {
			t.Errorf("after change %d: %+v, %v", n, got, err)
		}
		if again, _ := d.Report("acme"); again != r {
			t.Error("an unchanged file was read again")
		}
	}
}

func TestAFileThatCannotBeUsedIsAnError(t *testing.T) {
	const key = "sk-secret-0000000000000000"
	for name, c := range map[string]struct{ text, want string }{
		"not JSON":       {`{"` + key, "invalid JSON at byte"},
		"empty":          {"", "invalid JSON at byte"},
		"older schema":   {`{"schema_version":1,"key_states":{"` + key + `":{}}}`, "schema version 1"},
		"newer schema":   {`{"schema_version":3}`, "schema version 3"},
		"another format": {`{"models":["` + key + `"]}`, "schema version 0"},
		"a list":         {`["` + key + `"]`, "is not a usage file"},
		"odd types":      {`{"schema_version":2,"credentials":{"c":{"model_usage":{"m":{"totals":{"request_count":"` + key + `"}}}}}}`, "is not a usage file"},
		"too large":      {strings.Repeat(" ", maxFile+1), "larger than 64 MiB"},
	} {
		data := t.TempDir()
		path := store(t, data, c.text)
		d := Open(data, nil)
		for range 2 { // also from memory
			r, err := d.Report("acme")
			if r != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, %v, want an error with %q and %q", name, r, err, c.want, path)
			} else if strings.Contains(err.Error(), key) {
				t.Errorf("%s: the error shows a key: %v", name, err)
			}
		}
	}
}

func TestAFolderInPlaceOfTheFileIsAnError(t *testing.T) {
	data := t.TempDir()
	if err := os.MkdirAll(filepath.Join(data, "usage", "usage_acme.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(data, nil).Report("acme"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
}

// TestNothingOfACredentialIsKept looks at every string that a report holds.
func TestNothingOfACredentialIsKept(t *testing.T) {
	d := Open(sample(t), nil)
	for _, provider := range []string{"openai", "gemini", "nvidia_nim"} {
		if _, err := d.Report(provider); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join("testdata", "usage_"+provider+".json"))
		if err != nil || !strings.Contains(string(raw), "sk-sample-") {
			t.Fatalf("the sample has no key to look for: %v", err)
		}
	}
	if kept := fmt.Sprintf("%#v", d.files); len(kept) < 100 || strings.Contains(kept, "sk-sample") {
		t.Errorf("kept: %.300s", kept)
	}
	for _, f := range d.files {
		for name := range f.report.uses {
			if strings.Contains(name, "sk-sample") || strings.Contains(name, "stable-") {
				t.Errorf("kept %q", name)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, provider := range []string{"openai", "gemini"} {
		raw, err := os.ReadFile(filepath.Join("testdata", "usage_"+provider+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw))
	}
	f.Add(`{"schema_version":2,"credentials":{"a":{"model_usage":{"m":{"totals":{"total_tokens":9e18}}}},"b":{"model_usage":{"m":{"totals":{"total_tokens":9e18}}}}}}`)
	f.Add(`{"schema_version":2,"credentials":{"c":{"model_usage":{"m":{"totals":{"request_count":1e300,"approx_cost":-1,"last_used_at":1e18,"first_used_at":null}}}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := read(store(t, t.TempDir(), text), "acme")
		if (r == nil) == (err == nil) {
			t.Fatalf("%v, %v", r, err)
		}
		if r == nil {
			return
		}
		for name, u := range r.uses {
			if u.Requests < 0 || u.Tokens < 0 || u.Cost < 0 || u.Last.Year() > 9999 || math.IsNaN(u.Cost) {
				t.Fatalf("%q: %+v", name, u)
			}
		}
	})
}
