package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// TestWithoutUnicodeEveryFrameIsASCII: in no mode and no overlay do winnow's
// own words hold a byte that a terminal without Unicode cannot show.
func TestWithoutUnicodeEveryFrameIsASCII(t *testing.T) {
	for _, r := range rooms {
		if strings.HasPrefix(r.name, "wide") {
			continue // the texts of others stay as they are
		}
		t.Run(r.name, func(t *testing.T) {
			if r.name == "files" {
				exhibits(t, "plan.txt")
			} else {
				t.Parallel()
			}
			synctest.Test(t, func(t *testing.T) {
				r.shows = "" // signs, which are others here
				v := visit(t, r, style.Options{}, gallery(100, 30))
				defer v.leave()
				for _, size := range [][2]int{{100, 30}, {60, 16}} {
					v.run(v.resize(size[0], size[1]))
					view := v.View()
					tuitest.Exact(t, view.Content, size[0], size[1])
					for _, text := range []string{view.Content, view.WindowTitle} {
						for i, c := range text {
							if c >= utf8.RuneSelf {
								t.Fatalf("%dx%d shows %q after %q", size[0], size[1], c, text[max(0, i-40):i])
							}
						}
					}
				}
			})
		})
	}
}
