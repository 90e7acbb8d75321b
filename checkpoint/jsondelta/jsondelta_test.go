package jsondelta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// reference decodes with encoding/json, an independent reading of the text.
func reference(t *testing.T, doc json.RawMessage) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode %s: %v", doc, err)
	}
	return v
}

func parse(t testing.TB, text json.RawMessage) Document {
	t.Helper()
	d, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	return d
}

// encoded is what encoding/json makes of a document, but for the escapes of line
// separators.
func encoded(t *testing.T, doc json.RawMessage) string {
	t.Helper()
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(reference(t, doc)); err != nil {
		t.Fatal(err)
	}
	return lineSeparators.Replace(strings.TrimSuffix(out.String(), "\n"))
}

// checkDelta holds the two laws of Delta against documents a and b, with the
// delta taken through its JSON form.
func checkDelta(t *testing.T, a, b json.RawMessage) Delta {
	t.Helper()
	from, to := parse(t, a), parse(t, b)
	text, err := json.Marshal(Diff(from, to))
	if err != nil {
		t.Fatal(err)
	}
	var d Delta
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	forth, err := from.Apply(d)
	if err != nil || forth.Text() != to.Text() || !reflect.DeepEqual(reference(t, forth.Raw()), reference(t, b)) {
		t.Fatalf("Apply(%s, %s) = %s, %v; want %s", a, text, forth.Text(), err, b)
	}
	back, err := to.Apply(d.Invert())
	if err != nil || back.Text() != from.Text() || !reflect.DeepEqual(reference(t, back.Raw()), reference(t, a)) {
		t.Fatalf("Apply(%s, inverse of %s) = %s, %v; want %s", b, text, back.Text(), err, a)
	}
	if empty := len(d.Added)+len(d.Removed)+len(d.Modified) == 0; empty != Equal(a, b) {
		t.Fatalf("Diff(%s, %s) = %s", a, b, text)
	}
	return d
}

var deltaPairs = map[string][2]string{
	"nothing":              {`{"a":1}`, ` { "a" : 1 } `},
	"root scalars":         {`1`, `"1"`},
	"root scalar to list":  {`null`, `[null]`},
	"null and absent":      {`{"a":null}`, `{}`},
	"null and value":       {`{"a":null}`, `{"a":0}`},
	"type change":          {`{"a":[1]}`, `{"a":{"0":1}}`},
	"big numbers":          {`[9007199254740993,1e400]`, `[9007199254740992,1E400]`},
	"number spelling":      {`[1.0]`, `[1]`},
	"duplicates":           {`["x","x","y","x"]`, `["x","y","x","x","x"]`},
	"order":                {`[1,2,3,4,5]`, `[5,3,1,4,2]`},
	"nested in a list":     {`[{"n":"a","r":[1,2]},{"n":"b","r":[1]}]`, `[{"n":"a","r":[2,1]},{"n":"c","r":[1]},7]`},
	"removed beside edit":  {`[1,{"a":1},2,{"b":1}]`, `[{"a":2},2,3,{"b":2},9]`},
	"keys with dots":       {`{"a.b":1,"a":{"b":2}}`, `{"a.b":2,"a":{"b":1}}`},
	"keys with brackets":   {`{"a[0]":1,"a":[2]}`, `{"a[0]":3,"a":[4]}`},
	"keys with backslash":  {`{"\\":1,"\\-":2,"":3,".":4}`, `{"\\":2,"\\-":3,"":4,".":5}`},
	"the empty key":        {`{"":{"":1}}`, `{"":{"":2,"-":1}}`},
	"escapes":              {`{"\u0041":"\ud83d\ude00\u0001\t/"}`, `{"A":"😀\u0001\t\/!"}`},
	"lists of lists":       {`[[1],[2],[3]]`, `[[1,1],[3]]`},
	"member and list item": {`{"a":{"x":1}}`, `{"a":{"x":1,"y":[1]},"b":[]}`},
	"line separators":      {`["\u2028<&>"]`, `["\u2029<&>"]`},
}

func TestDeltaLeadsForthAndBack(t *testing.T) {
	for name, pair := range deltaPairs {
		t.Run(name, func(t *testing.T) {
			checkDelta(t, json.RawMessage(pair[0]), json.RawMessage(pair[1]))
			checkDelta(t, json.RawMessage(pair[1]), json.RawMessage(pair[0]))
		})
	}
}

func TestDeltaJSONForm(t *testing.T) {
	a := `{"rules":{"ignore":["a","b"],"whitelist":["claude*"]},"ui_state":{"search_query":""}}`
	b := `{"rules":{"ignore":["a","gpt-4*","b"],"whitelist":[]},"ui_state":{"search_query":"gpt"}}`
	d := checkDelta(t, json.RawMessage(a), json.RawMessage(b))
	got, err := json.Marshal(d)
	want := `{"added":{"rules.ignore":[{"index":1,"value":"gpt-4*"}]},` +
		`"removed":{"rules.whitelist":[{"index":0,"value":"claude*"}]},` +
		`"modified":{"ui_state.search_query":{"old":"","new":"gpt"}}}`
	if err != nil || string(got) != want {
		t.Errorf("delta = %s, %v\nwant    %s", got, err, want)
	}
}

func TestApplyRefusesADeltaThatMakesNoSense(t *testing.T) {
	for name, text := range map[string]string{
		"no such place":     `{"modified":{"x.y":{"old":1,"new":2}}}`,
		"path without end":  `{"modified":{"l[0":{"old":1,"new":2}}}`,
		"leading zero":      `{"modified":{"l[00]":{"old":1,"new":2}}}`,
		"empty key":         `{"modified":{"a..b":{"old":1,"new":2}}}`,
		"bad escape":        `{"modified":{"a\\x":{"old":1,"new":2}}}`,
		"rank out of range": `{"modified":{"l[9]":{"old":1,"new":2}}}`,
		"index backwards":   `{"removed":{"l":[{"index":1,"value":2},{"index":0,"value":1}]}}`,
		"index negative":    `{"added":{"l":[{"index":-2,"value":2}]}}`,
		"index beyond":      `{"added":{"l":[{"index":3,"value":2}]}}`,
		"value missing":     `{"modified":{"l":{"old":[1,2]}}}`,
		"list and object":   `{"modified":{"l[0]":{"old":1,"new":2},"l.a":{"old":1,"new":2}}}`,
	} {
		var d Delta
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := parse(t, json.RawMessage(`{"l":[1,2]}`)).Apply(d); !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: Apply = %s, %v; want ErrMismatch", name, got.Text(), err)
		}
	}
}

func TestParseRefusesWhatIsNotJSON(t *testing.T) {
	for _, doc := range []string{
		``, ` `, `nul`, `{`, `[`, `[1`, `[1,]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{1:2}`, `01`, `-`, `1.`, `1e`, `+1`, `.5`,
		`"`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"", `1 2`, "\"\xff\"", "\x00",
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
	} {
		if got, err := Parse([]byte(doc)); err == nil {
			t.Errorf("Parse(%.40q) = %.40q, want an error", doc, got.Text())
		}
	}
}

func TestEachDocumentHasOneCanonicalForm(t *testing.T) {
	in := " { \"b\" : [ 1.0 , -0e5 , \"\\u0041\\/\\n\\u001f\" ] , \"a\" : { } } "
	want := `{"a":{},"b":[1.0,-0e5,"A/\n\u001f"]}`
	got := parse(t, json.RawMessage(in))
	if got.Text() != want {
		t.Errorf("Parse(%s) = %s; want %s", in, got.Text(), want)
	}
	if again := parse(t, got.Raw()); again.Text() != want {
		t.Errorf("Parse is not stable: %s", again.Text())
	}
}

// randomValue writes a small random document, with the same few scalars
// again and again so that lists hold duplicates.
func randomValue(r *rand.Rand, depth int) string {
	scalars := []string{`null`, `true`, `0`, `1.0`, `1`, `"a"`, `""`, `"a.b[0]\\"`, `12345678901234567890`}
	if depth == 0 || r.IntN(3) == 0 {
		return scalars[r.IntN(len(scalars))]
	}
	parts := make([]string, r.IntN(7))
	if r.IntN(2) == 0 {
		for i := range parts {
			parts[i] = randomValue(r, depth-1)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	keys := []string{`""`, `"a"`, `"a.b"`, `"[0]"`, `"\\-"`, `"b"`, `"-"`}
	for i := range parts {
		parts[i] = keys[i] + ":" + randomValue(r, depth-1)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestDeltaOfRandomDocuments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		checkDelta(t, json.RawMessage(randomValue(r, 4)), json.RawMessage(randomValue(r, 4)))
	}
}

// ruleState is a state like that of the model filter, with n rules.
func ruleState(n int) json.RawMessage {
	type rule struct {
		Pattern string `json:"pattern"`
		Colour  int    `json:"colour"`
		Comment string `json:"comment"`
	}
	rules := make([]rule, n)
	for i := range rules {
		rules[i] = rule{fmt.Sprintf("vendor-%d/model-%d*", i%17, i), i % 12, "made by hand"}
	}
	doc, err := json.Marshal(map[string]any{
		"providers": []any{map[string]any{"name": "openai", "ignore": rules, "allow": []string{}}},
		"provider":  "openai", "search": "",
	})
	if err != nil {
		panic(err)
	}
	return doc
}

// withRule returns a ruleState changed at rule i.
func withRule(doc json.RawMessage, i int, pattern string) json.RawMessage {
	return bytes.Replace(doc, []byte(fmt.Sprintf("model-%d*", i)), []byte(pattern), 1)
}

func TestDeltaOfOneRuleIsSmall(t *testing.T) {
	a := ruleState(1000)
	b := withRule(withRule(a, 3, "first"), 990, "last")
	text, err := json.Marshal(checkDelta(t, a, b))
	const wantAtMost = 400
	if err != nil || len(text) > wantAtMost {
		t.Errorf("two changes in %d bytes made a delta of %d bytes, %v; want at most %d", len(a), len(text), err, wantAtMost)
	}
}

func TestDeltaOfLongShuffledLists(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	list := func() json.RawMessage {
		parts := make([]string, 3000)
		for i := range parts {
			parts[i] = fmt.Sprint(r.IntN(2000))
		}
		return json.RawMessage("[" + strings.Join(parts, ",") + "]")
	}
	checkDelta(t, list(), list())
}

func FuzzDelta(f *testing.F) {
	for _, pair := range deltaPairs {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		from, err := Parse(a)
		if err != nil {
			return
		}
		if !json.Valid(a) {
			t.Fatalf("Parse accepts %q, which is not JSON", a)
		}
		if want := encoded(t, a); from.Text() != want {
			t.Fatalf("Parse(%q) = %q, encoding/json writes %q", a, from.Text(), want)
		}
		if _, err := Parse(b); err != nil {
			return
		}
		checkDelta(t, a, b)
	})
}

func BenchmarkDiff1000Rules(b *testing.B) {
	a := ruleState(1000)
	c := withRule(a, 500, "changed")
	b.SetBytes(int64(len(a)))
	for b.Loop() {
		Diff(parse(b, a), parse(b, c))
	}
}
