package safetext

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"
)

var _ sql.Scanner = new(Text)

const hostile = "red\x1b[31m\u202e\tx"

func TestTextIsCleanedWhenItIsDecoded(t *testing.T) {
	raw, err := json.Marshal(map[string]any{"text": hostile, "all": []string{hostile}})
	if err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Text Text
		All  []Text
	}
	if err := json.Unmarshal(raw, &decoded); err != nil {
		t.Fatal(err)
	}
	var scanned, bytes, null Text = "", "", "old"
	for value, to := range map[any]*Text{hostile: &scanned, nil: &null} {
		if err := to.Scan(value); err != nil {
			t.Fatal(err)
		}
	}
	if err := bytes.Scan([]byte(hostile)); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]Text{"JSON": decoded.Text, "JSON list": decoded.All[0], "string": scanned, "bytes": bytes} {
		if got != Clean(hostile) {
			t.Errorf("%s: %q, want %q", name, got, Clean(hostile))
		}
	}
	if null != "" {
		t.Errorf("NULL: %q", null)
	}
	if err := null.Scan(1); err == nil {
		t.Error("a number is scanned as text")
	}
}

func TestTextDecodesAsCheaplyAsAString(t *testing.T) {
	column := strings.Repeat("plain text ", 100)
	var text Text
	if n := testing.AllocsPerRun(100, func() { _ = text.Scan(column) }); n > 1 { // the interface
		t.Errorf("Scan of plain text: %v allocations, want at most 1", n)
	}
	raw := []byte(column)
	if n := testing.AllocsPerRun(100, func() { _ = text.UnmarshalText(raw) }); n > 1 {
		t.Errorf("UnmarshalText of plain text: %v allocations, want 1", n)
	}
}

type pattern string

func TestSprintf(t *testing.T) {
	for want, got := range map[string]Text{
		"set red‹U+001B›[31m‹U+202E›‹U+0009›x": Sprintf("set %s", hostile),
		"clean a\tb":                  Sprintf("clean %s", Text("a\tb")),
		"3 of 4.5 true":               Sprintf("%d of %.1f %v", 3, 4.5, true),
		"rule ‹U+202E›*":              Sprintf("rule %s", pattern("\u202e*")),
		"error ‹U+202E› and ‹U+001B›": Sprintf("error %v", errors.New("‹U+202E› and \x1b")),
		"after 1m0s":                  Sprintf("after %v", time.Minute),
		"host ‹U+0430›pple.com":       Sprintf("host %s", &url.URL{Opaque: "\u0430pple.com"}),
		"[a ‹U+001B›]":                Sprintf("%v", []string{"a", "\x1b"}),
		"<nil>":                       Sprintf("%v", nil),
	} {
		if string(got) != want {
			t.Errorf("Sprintf = %q, want %q", got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	if got := Join([]Text{"a", "b"}, " · "); got != "a · b" {
		t.Errorf("Join = %q", got)
	}
}
