package tui

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// Size of the pictures, in cells.
const (
	screenWidth  = 100
	screenHeight = 30
)

// screens are the modes and overlays that have a picture, as the keys that
// lead to them; the conversation is in all of them but the welcome.
var screens = map[string][]string{
	"welcome":     nil,
	"chat":        {"esc"},
	"command":     {"esc", "f"},
	"checkpoints": {"ctrl+g"},
	"models":      {"ctrl+l"},
	"help":        {"f1"},
}

func TestScreens(t *testing.T) {
	for name, keys := range screens {
		for palette, dark := range map[string]bool{"dark": true, "light": false} {
			t.Run(name+" "+palette, func(t *testing.T) {
				s := newStill(t, style.Options{Dark: dark, Unicode: true}, screenWidth, screenHeight)
				if name != "welcome" {
					s.pairs(longTalk()...)
				}
				s.keys(keys...)
				tuitest.Exact(t, s.frame(), screenWidth, screenHeight)
				svg := tuitest.SVG(s.frame(), screenWidth, screenHeight, tuitest.PictureOptions{Dark: dark, Title: "winnow"})
				Drawn(t, name+"-"+palette, svg)
			})
		}
	}
}

// Drawn compares a picture with the file of its name, or writes it.
func Drawn(t *testing.T, name string, svg []byte) {
	t.Helper()
	path := filepath.Join("testdata", "screens", name+".svg")
	if os.Getenv("WINNOW_UPDATE") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, svg, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; WINNOW_UPDATE=1 draws it", err)
	}
	if !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), svg) {
		t.Errorf("%s is not what the program draws; WINNOW_UPDATE=1 draws it again", path)
	}
}
