package models

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"winnow/assistant/llm"
)

func TestWithoutAnythingTheCatalogue(t *testing.T) {
	l := New(Options{})
	list, ok := l.Cached("OpenAI")
	if !ok || list.Source != SourceCatalogue || list.Provider != "openai" || len(list.IDs) < 10 || len(list.New) != 0 || list.Err != "" {
		t.Errorf("%+v, %v", list, ok)
	}
	got, err := l.Models(t.Context(), "openai")
	if !errors.Is(err, errNoSource) || !strings.HasPrefix(err.Error(), "openai: ") {
		t.Errorf("Models: %v", err)
	}
	is(t, "IDs", got.IDs, list.IDs)
	contains(t, got.Err, "no known key or address")
	if list, ok := l.Cached("nobody"); ok || len(list.IDs) != 0 {
		t.Errorf("nobody has %+v", list)
	}
	if list, _ := l.Cached("fireworks_ai"); len(list.IDs) == 0 || !strings.HasPrefix(list.IDs[0], "fireworks_ai/") {
		t.Errorf("under the proxy's name: %+v", list)
	}
	if list, _ := l.Cached("fireworks"); len(list.IDs) == 0 || !strings.HasPrefix(list.IDs[0], "fireworks/") {
		t.Errorf("under the catalogue's name: %+v", list)
	}
}

func TestLiveListIsKeptForTheNextRun(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, "b", "a", "deep/c", "a", "b")
	l := r.lists()
	list := must(t, l, "acme")
	want := full("acme", "a", "b", "deep/c")
	is(t, "IDs", list.IDs, want)
	if list.Source != SourceLive || !list.At.Equal(noon) || list.Partial || list.Err != "" {
		t.Errorf("%+v", list)
	}
	if cached, ok := l.Cached("ACME"); !ok || cached.Source != SourceLive {
		t.Errorf("in the same run: %+v", cached)
	}
	r.now = noon.Add(time.Hour)
	next, ok := r.lists().Cached("acme")
	is(t, "IDs in the next run", next.IDs, want)
	if !ok || next.Source != SourceCache || !next.At.Equal(noon) {
		t.Errorf("in the next run: %+v", next)
	}
	if n := len(r.asked()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// Nothing that an endpoint answers shrinks or damages the stored list.
func TestBadListKeepsTheOldOne(t *testing.T) {
	stored := many(20)
	for name, bad := range map[string]struct {
		names []string
		err   error
		want  error
	}{
		"a failure":        {nil, errors.New("connection refused"), nil},
		"HTML":             {nil, &llm.RequestError{Kind: llm.KindUnknown, Status: 200, Message: "<html>nope"}, nil},
		"null":             {nil, nil, errEmpty},
		"empty":            {[]string{}, nil, errEmpty},
		"only escapes":     {[]string{"\x1b[2J", "a\nb", "\x9b31m", "\u0085", "\xff"}, nil, errUnusable},
		"only empty ids":   {[]string{"", " ", "x "}, nil, errUnusable},
		"too long ids":     {[]string{strings.Repeat("ж", maxName+1)}, nil, errUnusable},
		"too many":         {many(maxModels + 1), nil, errTooLong},
		"an endless error": {nil, errors.New(strings.Repeat("no\x1b[31m ", 1e5)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := withAcme(t)
			r.has(acmeBase, stored...)
			l := r.lists()
			must(t, l, "acme")
			r.does(acmeBase, func(context.Context) ([]string, error) { return bad.names, bad.err })
			list, err := l.Models(t.Context(), "acme")
			is(t, "IDs", list.IDs, full("acme", stored...))
			if err == nil || bad.want != nil && !errors.Is(err, bad.want) {
				t.Errorf("error %v, want %v", err, bad.want)
			}
			if list.Source != SourceCache || list.Err == "" || len(list.Err) > 2*maxReason || strings.ContainsAny(list.Err+err.Error(), "\x1b\n") {
				t.Errorf("%s, %q, %q", list.Source, list.Err, err)
			}
			is(t, "IDs in the same run", first(l.Cached("acme")).IDs, full("acme", stored...))
			is(t, "IDs in the next run", first(r.lists().Cached("acme")).IDs, full("acme", stored...))
		})
	}
}

func first(list List, _ bool) List { return list }

func TestUnusableEntriesAreLeftOut(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, "good", "\x1b]52;c;x\a", "a\u2028b", " edge", "", "<script>", "rtl\u202e", "two words", "good", "\xff\xfe", strings.Repeat("x", maxName))
	list := must(t, r.lists(), "acme")
	is(t, "IDs", list.IDs, full("acme", "<script>", "good", "rtl\u202e", "two words", strings.Repeat("x", maxName)))
}

func TestHalfOfTheListMayGo(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, many(20)...)
	l := r.lists()
	must(t, l, "acme")
	r.has(acmeBase, many(10)...)
	is(t, "IDs", must(t, l, "acme").IDs, full("acme", many(10)...))
}

func TestHundredThousandModels(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, many(100_000)...)
	if n := len(must(t, r.lists(), "acme").IDs); n != 100_000 {
		t.Fatalf("%d models", n)
	}
	if n := len(first(r.lists().Cached("acme")).IDs); n != 100_000 {
		t.Errorf("%d models in the next run", n)
	}
}

func TestClockThatWasSetBack(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, "a")
	r.now = noon.AddDate(40, 0, 0)
	must(t, r.lists(), "acme")
	r.now = noon
	l := r.lists()
	if list, _ := l.Cached("acme"); list.At.After(noon) {
		t.Errorf("fetched at %v, now is %v", list.At, noon)
	}
	r.has(acmeBase, "a", "b")
	must(t, l, "acme")
	is(t, "IDs", first(r.lists().Cached("acme")).IDs, full("acme", "a", "b"))
}

func TestFilesAreTheUsersOnly(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, "a")
	must(t, r.lists(), "acme")
	if err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", d.Name(), info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(r.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r.has(acmeBase, "a", "b")
	list := must(t, r.lists(), "acme")
	contains(t, list.Err, "other users can write")
	is(t, "IDs", list.IDs, full("acme", "a", "b"))
	if err := os.Chmod(r.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if list := must(t, r.lists(), "acme"); list.Err != "" {
		t.Errorf("Err = %q", list.Err)
	}
	if info, err := os.Stat(r.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
}

func TestDiskThatCannotBeWritten(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, "a")
	r.dir = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(r.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := r.lists()
	list := must(t, l, "acme")
	is(t, "IDs", list.IDs, full("acme", "a"))
	contains(t, list.Err, "was not saved")
	if err := os.Remove(r.dir); err != nil {
		t.Fatal(err)
	}
	r.has(acmeBase, "a", "b")
	list = must(t, l, "acme")
	is(t, "New", list.New, full("acme", "b"))
	if list.Err != "" {
		t.Errorf("once fixed: %q", list.Err)
	}
	is(t, "New in the next run", first(r.lists().Cached("acme")).New, full("acme", "b"))
}

// What could not be written counts more than the older list that was.
func TestMemoryAfterAFailedSave(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, "a")
	l := r.lists()
	must(t, l, "acme")
	if err := os.Chmod(r.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r.has(acmeBase, "a", "b")
	must(t, l, "acme")
	if err := l.MarkSeen("acme"); err == nil {
		t.Error("MarkSeen was stored in a folder of everybody's")
	}
	contains(t, first(l.Cached("acme")).Err, "was not saved")
	if err := os.Chmod(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	is(t, "New", must(t, l, "acme").New, nil)
	if list, _ := l.Cached("acme"); list.Err != "" {
		t.Errorf("once fixed: %q", list.Err)
	}
}

func TestInfoOfALiveModel(t *testing.T) {
	infos := []llm.ModelInfo{{ID: "openai/own", Context: 5000, Facts: llm.Facts{PriceIn: llm.PriceOf(1), PriceOut: llm.PriceOf(2)}, Tools: true, Reasons: true}, {ID: allModels(theCatalogue())[0].ID}}
	infos = append(infos, llm.ModelInfo{ID: theCatalogue().ofProvider("openai")[0].ID, Tools: true})
	l := New(Options{
		Dir: t.TempDir() + "/x",
		Env: func(name string) (Value, bool) { return Value{Text: "sk-test-openai-key"}, name == "OPENAI_API_KEY" },
		NewFetcher: func(Target) (Fetcher, error) {
			return fixed(infos), nil
		},
	})
	must(t, l, "openai")
	got, ok := l.Info("openai/own")
	if !ok || got.Context != 5000 || !got.Known || got.Facts.PriceOut != llm.PriceOf(2) || !got.Tools || !got.Reasons || got.Source != SourceLive {
		t.Errorf("%+v, %v", got, ok)
	}
	known := theCatalogue().ofProvider("openai")[0]
	got, ok = l.Info(known.ID)
	if !ok || got.Context != known.Context || !got.Known || got.Facts.PriceIn != known.Facts.PriceIn || got.Source != SourceLive {
		t.Errorf("%+v, want what %+v says", got, known)
	}
	if got, ok := l.Info("openai/no-such"); ok {
		t.Errorf("%+v", got)
	}
	if got, ok := l.Info(allModels(theCatalogue())[0].ID); !ok || got.Source != SourceCatalogue {
		t.Errorf("%+v, %v", got, ok)
	}
}

type fixed []llm.ModelInfo

func (f fixed) Models(context.Context) ([]llm.ModelInfo, error) { return f, nil }
