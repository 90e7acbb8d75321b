package offline

import (
	"slices"
	"strings"
	"testing"
)

// TestMatch fits messages to forms: a part takes as few words as possible, and an
// optional part takes its word when it is there.
func TestMatch(t *testing.T) {
	for _, test := range []struct{ form, text, want string }{
		{"hide $what", "hide mini and nano", "hide=hide $what=mini and nano"},
		{"hide $what", "hide", "no"},
		{"hide $what", "please hide mini", "no"},
		{"add|put $what to|on $list [list] [$at]", "add o3 to hide list on gemini", "add|put=add $what=o3 to|on=to $list=hide list=list $at=on gemini"},
		{"add|put $what to|on $list [list] [$at]", "add o3 to b to allow", "add|put=add $what=o3 to b to|on=to $list=allow"},
		{"add|put $what to|on $list [list] [$at]", "add o3 to nothing", "no"},
		{"[$list] rules [$at]", "rules", "rules=rules"},
		{"[$list] rules [$at]", "allow rules for openai", "$list=allow rules=rules $at=for openai"},
		{"[$list] rules [$at]", "rules for", "no"},
		{"undo [last] $n [changes]", "undo last two changes", "undo=undo last=last $n=two changes=changes"},
		{"hi|hello", "hi hello", "no"},
	} {
		fits, ok := match(strings.Fields(test.form), tokenize(test.text))
		var parts []string
		for _, f := range fits {
			parts = append(parts, f.part+"="+strings.Join(textsOf(f.tokens), " "))
		}
		got := strings.Join(parts, " ")
		if !ok {
			got = "no"
		}
		if got != test.want {
			t.Errorf("%q on %q: %s, want %s", test.form, test.text, got, test.want)
		}
	}
}

// TestQuotedWordsAreNoPartOfAForm: quoted text is a name, whatever it says.
func TestQuotedWordsAreNoPartOfAForm(t *testing.T) {
	if _, ok := match([]string{"hide", "$what"}, tokenize(`"hide" mini`)); ok {
		t.Error(`"hide" in quotes begins a request`)
	}
	if fits, ok := match([]string{"hide", "$what"}, tokenize(`hide "save"`)); !ok || fits[1].tokens[0].Kind != quoted {
		t.Errorf("hide \"save\" is read as %v, %v", fits, ok)
	}
}

// TestPartsTakeTheWholeMessage: the forms try every place for the words between two
// slots, also of a message of the largest size; those that fit take all of it.
func TestPartsTakeTheWholeMessage(t *testing.T) {
	for _, first := range []string{"add", "put", "set topic of", "how many", "make sure", "remove"} {
		tokens := tokenize(first + strings.Repeat(" to from of is", maxTokens/5))
		for _, f := range slices.Concat(filterForms, historyForms) {
			fits, ok := match(strings.Fields(f.text), tokens)
			taken := 0
			for _, f := range fits {
				taken += len(f.tokens)
			}
			if ok && taken != len(tokens) {
				t.Errorf("%q takes %d of %d words of %q", f.text, taken, len(tokens), first)
			}
		}
	}
}
