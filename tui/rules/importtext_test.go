package rules

import (
	"slices"
	"testing"

	"winnow/adapters/modelfilter"
)

func TestRulesAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]struct {
		ignore, allow []string
		text          string
	}{
		"":                                {nil, nil, ""},
		"a*, b  c\n*-preview*":            {[]string{"a*", "b", "c", "*-preview*"}, nil, "4 ignore rules"},
		"allow: gpt-5":                    {nil, []string{"gpt-5"}, "1 allow rule"},
		"a* Allow: b hide: c whitelist:":  {[]string{"a*", "c"}, []string{"b"}, "2 ignore rules and 1 allow rule"},
		"export IGNORE_MODELS_X=\"a*,b\"": {[]string{"a*", "b"}, nil, "2 ignore rules"},
		"WHITELIST_MODELS_OPENAI='a,b'\nIGNORE_MODELS_OPENAI=c": {[]string{"c"}, []string{"a", "b"}, "1 ignore rule and 2 allow rules"},
		"OTHER=a": {[]string{"OTHER=a"}, nil, "1 ignore rule"}, // a pattern may hold =
	} {
		r := parseImport(text)
		if !slices.Equal(r[modelfilter.Ignore], want.ignore) || !slices.Equal(r[modelfilter.Allow], want.allow) {
			t.Errorf("%q is %q, want %q and %q", text, r, want.ignore, want.allow)
		}
		if r.String() != want.text || r.Len() != len(want.ignore)+len(want.allow) {
			t.Errorf("%q is called %q, %d rules; want %q", text, r, r.Len(), want.text)
		}
	}
}
