package rules

import (
	"testing"

	"winnow/adapters/modelfilter"
	"winnow/tui/keymap"
)

// large is a pane with 10,000 models and 1,000 rules.
func large(b *testing.B) *bench {
	b.Helper()
	return open(b, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI="+manyRules(900)+"\nWHITELIST_MODELS_OPENAI="+manyRules(100)+"\n", many(10_000))
}

func BenchmarkLines(b *testing.B) {
	for _, tab := range []int{tabRules, tabModels, tabChanges} {
		p := large(b)
		p.openTab(tab)
		b.Run(tabNames[tab].title, func(b *testing.B) {
			for b.Loop() {
				p.version++ // as if something had changed
				p.Lines(78, 50)
			}
		})
	}
	p := large(b)
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			p.Lines(78, 50)
		}
	})
}

func BenchmarkPreviewKey(b *testing.B) {
	for _, pattern := range []string{"gpt*mini", "*-preview*", "*", "*[a-m]*[0-9]?", "nothing*like*this"} {
		p := large(b)
		p.openTab(tabModels)
		p.openPattern(modelfilter.Ignore, pattern)
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				p.Key("", "x")
				p.Key(keymap.EditDeleteBefore, "")
				p.Lines(78, 50)
			}
		})
	}
}

func BenchmarkSearchKey(b *testing.B) {
	p := large(b)
	p.openTab(tabModels)
	p.openSearch()
	p.Key("", "m")
	for b.Loop() {
		p.Key("", "i")
		p.Key(keymap.EditDeleteBefore, "")
		p.Lines(78, 50)
	}
}

func BenchmarkCursor(b *testing.B) {
	p := large(b)
	p.openTab(tabModels)
	for b.Loop() {
		p.Do("pane-down")
		p.Lines(78, 50)
	}
}

func BenchmarkChanged(b *testing.B) {
	p := large(b)
	for b.Loop() {
		p.w.Lock()
		p.show()
		p.w.Unlock()
	}
}
