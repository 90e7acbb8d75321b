package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// manyModels returns n ids as a large gateway has them.
func manyModels(n int) []string {
	rng := rand.New(rand.NewPCG(1, 1))
	family := []string{"gpt-4", "gpt-4o", "gpt-5.1", "o3", "claude-opus", "claude-sonnet", "gemini-2.5-pro", "llama-3", "mistral-large", "qwen3"}
	kind := []string{"", "-mini", "-preview", "-turbo", "-instruct", "-vision", "-audio", "-nano"}
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("openai/%s%s-%04d-%02d", family[rng.IntN(len(family))], kind[rng.IntN(len(kind))], i, rng.IntN(99))
	}
	return out
}

// manyRules returns n patterns of every shape.
func manyRules(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = []string{
			fmt.Sprintf("gpt-4o-%04d*", i), fmt.Sprintf("*-%02d", i%99), fmt.Sprintf("*-%03d*", i),
			fmt.Sprintf("claude-*-mini-%02d*", i%99), fmt.Sprintf("*[0-4]-%04d-?%d", i, i%10), fmt.Sprintf("o3-%04d-01", i),
			fmt.Sprintf("*preview*%d", i), fmt.Sprintf("gpt-?-*-%d[13579]", i%10), "*mini*", fmt.Sprintf("?l*-%d*", i),
		}[i%10]
	}
	return out
}

func BenchmarkScratch(b *testing.B) {
	models, rules := manyModels(10_000), manyRules(1_000)
	for b.Loop() {
		e := New("openai", models)
		e.Set(rules[:800], rules[800:])
		e.Statuses()
	}
}

// BenchmarkChange adds a rule to a thousand and removes it again.
func BenchmarkChange(b *testing.B) {
	e := New("openai", manyModels(10_000))
	rules := manyRules(1_000)
	e.Set(rules[:800], rules[800:])
	for _, pattern := range []string{"gpt-4o-mini*", "*", "*-preview*", "*[a-m]*[0-9]?", "?*"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				e.Add(Ignore, pattern)
				e.RemoveAt(Ignore, 800)
			}
		})
	}
}

func BenchmarkPreview(b *testing.B) {
	e := New("openai", manyModels(10_000))
	rules := manyRules(1_000)
	e.Set(rules[:800], rules[800:])
	for _, pattern := range []string{"gpt-4o-mini*", "*", "*-preview*", "*[a-m]*[0-9]?", "*a*e*i*-*0*"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				e.Preview(Ignore, pattern)
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	e := New("openai", manyModels(10_000))
	rules := manyRules(1_000)
	e.Set(rules[:800], rules[800:])
	for _, pattern := range []string{"gpt-4o-mini*", "*", "*-preview-[ab]*", "?*"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				_, _ = e.Check(Ignore, pattern) // refused or not
			}
		})
	}
}

func BenchmarkLint(b *testing.B) {
	e := New("openai", manyModels(10_000))
	rules := manyRules(1_000)
	e.Set(rules[:800], rules[800:])
	for b.Loop() {
		e.Lint()
	}
}

func BenchmarkStatuses(b *testing.B) {
	e := New("openai", manyModels(10_000))
	rules := manyRules(1_000)
	e.Set(rules[:800], rules[800:])
	for b.Loop() {
		e.Statuses()
	}
}

func BenchmarkRules(b *testing.B) {
	e := New("openai", manyModels(10_000))
	e.Set(manyRules(1_000), nil)
	for b.Loop() {
		e.Rules(Ignore)
	}
}

func BenchmarkSuggest(b *testing.B) {
	models := manyModels(10_000)
	b.Run("half", func(b *testing.B) {
		for b.Loop() {
			Suggest(models[:5_000], models[5_000:])
		}
	})
	b.Run("twenty", func(b *testing.B) {
		for b.Loop() {
			Suggest(models[:20], models[20:])
		}
	})
}
