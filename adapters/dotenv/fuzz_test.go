package dotenv

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// values is what every key but those in without reads as.
func values(f *File, env Environ, without ...string) map[string]string {
	all := map[string]string{}
	for _, key := range f.Keys() {
		if !slices.Contains(without, key) {
			value, ok := f.Get(key, env)
			if !ok {
				value = "\x00bare"
			}
			all[key] = value
		}
	}
	return all
}

// outside is the text of a file without the statements of key.
func outside(f *File, key string) string {
	var out strings.Builder
	for _, b := range f.bindings {
		if b.key == key {
			out.WriteString(f.text[b.start:b.lineStart])
		} else {
			out.WriteString(b.text)
		}
	}
	return out.String()
}

func FuzzEnvEdit(f *testing.F) {
	for i, g := range loadGolden(f) {
		if i%10 == 0 || i < 100 {
			f.Add(g.File, "A", "x y #z")
		}
	}
	for _, value := range []string{"", "'", "\"", "\\", "a\nB=1", "#", " # x", "${B}", "\x00", "\xff", "a'b\"c\n", "\u00a0", "x\\'"} {
		f.Add([]byte("A='1' # c\r\nB=\"${A}\nexport C='x\\'\nA=2"), "A", value)
		f.Add([]byte("\ufeffB=1\nIGNORE_MODELS_X=a"), "WHITELIST_MODELS_X", value)
		f.Add([]byte("\ufeff'B=1\nA='2'\n"), "A", value)
		f.Add([]byte("\ufeffexport B=1\r\nA=${B}\n"), "B", value)
	}
	f.Fuzz(func(t *testing.T, file []byte, key, value string) {
		old := Parse(file)
		if got := string(old.Bytes()); got != string(file) {
			t.Fatalf("parsed text is %q", got)
		}
		same, err := old.With()
		if err != nil || string(same.Bytes()) != string(file) {
			t.Fatalf("no edit: %q, %v", same.Bytes(), err)
		}
		for _, e := range []Edit{Set(key, value), Unset(key)} {
			checkEdit(t, old, e)
		}
	})
}

// checkEdit applies e and checks the result.
func checkEdit(t *testing.T, old *File, e Edit) {
	t.Helper()
	edited, err := old.With(e)
	marked := old // when the key follows a byte order mark, that gets a line of its own
	old = marked.splitBOM(map[string]Edit{e.Key: e})
	var refused *RefusedError
	if err != nil {
		if !errors.As(err, &refused) || refused.Reason == "" {
			t.Fatalf("%v: %v is no refusal", e, err)
		}
		return
	}
	if got, ok := edited.successor().Get(e.Key, nil); ok == e.Unset || ok && got != e.Value {
		t.Fatalf("%v %q: without the byte order mark it reads as %q, %v in %q", e, e.Value, got, ok, edited.Bytes())
	}
	again := Parse(edited.Bytes())
	got, ok := again.Get(e.Key, nil)
	if ok == e.Unset || ok && got != e.Value {
		t.Fatalf("%v %q: reads as %q, %v in %q", e, e.Value, got, ok, edited.Bytes())
	}
	for name, env := range map[string]Environ{"empty": nil, "real": realEnv} {
		if was, is := values(old, env, e.Key), values(again, env, e.Key); !maps.Equal(was, is) {
			t.Fatalf("%v %q: other keys were %q, are %q (%s environment)", e, e.Value, was, is, name)
		}
	}
	was, is := outside(old, e.Key), outside(again, e.Key)
	if eol := old.lineEnding(); was != is && was+eol != is {
		t.Fatalf("%v %q: other bytes were %q, are %q", e, e.Value, was, is)
	}
	twice, err := again.With(e)
	if err != nil || string(twice.Bytes()) != string(edited.Bytes()) {
		t.Fatalf("%v %q twice: %q, %v; once %q", e, e.Value, twice.Bytes(), err, edited.Bytes())
	}
	if raw, ok := old.Raw(e.Key); ok && unwritable(raw) == "" {
		if back, err := edited.With(Set(e.Key, raw)); err == nil { // a removed key may be one that cannot be added
			if got, _ := back.Raw(e.Key); got != raw || !maps.Equal(values(back, nil, e.Key), values(old, nil, e.Key)) {
				t.Fatalf("%v %q and back: %q; was %q", e, e.Value, back.Bytes(), old.Bytes())
			}
		}
		if !old.successor().satisfies(Set(e.Key, raw)) {
			return // it is read differently without the byte order mark
		}
		if same, err := old.With(Set(e.Key, raw)); err != nil || string(same.Bytes()) != string(old.Bytes()) {
			t.Fatalf("%s set to what it is: %q, %v; was %q", e.Key, same.Bytes(), err, old.Bytes())
		}
	}
}

func FuzzEnvDiff(f *testing.F) {
	for _, rules := range []string{"", "*-preview*;gpt-4o", "a,b;c", "x\nEVIL=1;y", "#;'", "${A};\"", "[!a]*;?", " a;b ", "\\;\\"} {
		f.Add([]byte("A=1\nIGNORE_MODELS_X='a'\r\nB=\"${A}\"\n"), rules)
		f.Add([]byte("WHITELIST_MODELS_X=a\nB='"), rules)
	}
	f.Fuzz(func(t *testing.T, file []byte, rules string) {
		const ignore, allow = ignorePrefix + "X", allowPrefix + "X"
		old := Parse(file)
		lists := map[string][]string{ignore: {}, allow: {}}
		for i, rule := range strings.Split(rules, ";") {
			key := []string{ignore, allow}[i%2]
			if rule != "" || i > 1 {
				lists[key] = append(lists[key], rule)
			}
		}
		var edits []Edit
		for _, key := range []string{ignore, allow} {
			e, err := SetList(key, lists[key])
			if err != nil {
				var list *RefusedError
				if !errors.As(err, &list) {
					t.Fatalf("%v is no refusal", err)
				}
				return
			}
			edits = append(edits, e)
		}
		saved, err := old.With(edits...)
		if err != nil {
			var refused *RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("%v is no refusal", err)
			}
			return
		}
		again := Parse(saved.Bytes())
		for key, want := range lists {
			value, _ := again.Get(key, realEnv)
			if got := SplitList(value); !slices.Equal(got, want) {
				t.Fatalf("%s = %q, want %q in %q", key, got, want, saved.Bytes())
			}
		}
		if was, is := values(old, realEnv, ignore, allow), values(again, realEnv, ignore, allow); !maps.Equal(was, is) {
			t.Fatalf("other keys were %q, are %q", was, is)
		}
		var text strings.Builder
		for _, line := range Diff(old, saved) {
			text.WriteString(string(line.Text))
		}
		if string(file) != string(saved.Bytes()) && text.Len() == 0 {
			t.Fatalf("the change from %q to %q shows nothing", file, saved.Bytes())
		}
	})
}
