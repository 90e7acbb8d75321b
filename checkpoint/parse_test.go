package checkpoint

import "testing"

// wantTexts holds a value and everything below it against its canonical form.
func wantTexts(t *testing.T, v value) {
	t.Helper()
	again, err := parseText(v.text)
	if err != nil || again.text != v.text || again.kind != v.kind {
		t.Errorf("%q is read again as %q, %v", v.text, again.text, err)
	}
	if len(again.items) != len(v.items) {
		t.Fatalf("%q has %d items, read again %d", v.text, len(v.items), len(again.items))
	}
	for i, item := range v.items {
		if item.text != again.items[i].text {
			t.Errorf("item %d of %q is %q", i, v.text, item.text)
		}
		wantTexts(t, item)
	}
}

func TestEveryPartHasItsText(t *testing.T) {
	for doc, want := range map[string]string{
		`[]`:                                    `[]`,
		`{ }`:                                   `{}`,
		`{"a":{"b":[1,2]},"c":[{"x":1,"y":2}]}`: `{"a":{"b":[1,2]},"c":[{"x":1,"y":2}]}`,
		`[{"y":2,"x":1},{"x":1,"y":2}]`:         `[{"x":1,"y":2},{"x":1,"y":2}]`,
		`{"c":[ {"y":[1 ,2],"x":{}} ],"a":{"q":"\u0041\/","p":[[],[ ]]}}`: `{"a":{"p":[[],[]],"q":"A/"},"c":[{"x":{},"y":[1,2]}]}`,
		`{"\u0062":"\ud83d\ude00","a\n":"\u001f"}`:                        `{"a\n":"\u001f","b":"😀"}`,
	} {
		v, err := parseText(doc)
		if err != nil || v.text != want {
			t.Errorf("%s is read as %s, %v; want %s", doc, v.text, err, want)
			continue
		}
		wantTexts(t, v)
	}
	wide := "{" // more members than are sorted by insertion
	for _, k := range "zyxwvutsrqponmlkjihgfedcba" {
		wide += `"` + string(k) + `":[` + string('0'+k%10) + `],`
	}
	v, err := parseText(wide[:len(wide)-1] + "}")
	if err != nil || len(v.keys) != 26 || v.keys[0] != "a" || v.keys[25] != "z" {
		t.Errorf("%s: keys %v, %v", wide, v.keys, err)
	}
	wantTexts(t, v)
}

// A checkpoint reads a state of a thousand rules: that must cost a handful of
// allocations, not some for each rule.
func TestReadingAllocatesForManyRulesAtOnce(t *testing.T) {
	const most = 60
	doc := ruleState(1000)
	if n := testing.AllocsPerRun(5, func() {
		if _, err := parse(doc); err != nil {
			t.Fatal(err)
		}
	}); n > most {
		t.Errorf("reading 1,000 rules takes %.0f allocations, want at most %d", n, most)
	}
}

func BenchmarkRead1000Rules(b *testing.B) {
	doc := ruleState(1000)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse(doc); err != nil {
			b.Fatal(err)
		}
	}
}
