package openai

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// reread reads any document with a cursor into what encoding/json would make of it.
func reread(c *cursor) any {
	switch c.peek() {
	case '{':
		m := map[string]any{}
		c.object(func(name []byte) {
			key := fix(string(name))
			m[key] = reread(c)
		})
		return m
	case '[':
		a := []any{}
		c.array(func() { a = append(a, reread(c)) })
		return a
	case '"':
		return fix(c.str())
	case 't':
		c.skip()
		return true
	case 'f':
		c.skip()
		return false
	case 'n':
		c.skip()
		return nil
	}
	n, _ := c.number()
	return n
}

// fix makes the string what encoding/json makes it: broken characters are U+FFFD.
func fix(s string) string {
	var j surrogates
	var b strings.Builder
	for _, r := range j.join(s) + j.flush() {
		b.WriteRune(r)
	}
	return b.String()
}

func FuzzCursor(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e+3,"\ud83d\ude00\n\/",null,true,false,{}]}`, `"\ud83d\ud83d\ude00"`, `[1,]`, `{"a" 1}`, `01`, `-`, `1.`, `1e`,
		`"\x"`, "\"\n\"", `{"a":1,"a":2}`, ` [ ] `, `tru`, `nullx`, `"é` + "\xff" + `"`, strings.Repeat("[", 300), `"\uD8`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want any
		err := json.Unmarshal(data, &want)
		skipped := cursor{b: data}
		skipped.skip()
		read := cursor{b: data}
		got := reread(&read)
		if deep := strings.Count(string(data), "[")+strings.Count(string(data), "{") > maxDepth; deep {
			return
		}
		if ok := err == nil || strings.Contains(err.Error(), "number"); skipped.whole() != ok || read.whole() != ok {
			t.Fatalf("valid: %v by skipping, %v by reading; encoding/json says %v", skipped.whole(), read.whole(), err)
		}
		if err == nil && utf8.Valid(data) && !reflect.DeepEqual(got, want) {
			t.Fatalf("read %#v, want %#v", got, want)
		}
	})
}
