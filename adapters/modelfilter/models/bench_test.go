package models

import (
	"context"
	"testing"
)

// BenchmarkCached is what opening a provider costs: 10,000 models in memory.
func BenchmarkCached(b *testing.B) {
	l := stored(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		l.Cached("acme")
	}
}

// BenchmarkCachedFromDisk is the same at the first call of a run.
func BenchmarkCachedFromDisk(b *testing.B) {
	opts := stored(b, 10_000).opts
	b.ReportAllocs()
	for b.Loop() {
		New(opts).Cached("acme")
	}
}

// BenchmarkAccept is what a fetched list of 10,000 models costs, fsync included.
func BenchmarkAccept(b *testing.B) {
	l := stored(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Models(context.Background(), "acme"); err != nil {
			b.Fatal(err)
		}
	}
}

func stored(b *testing.B, n int) *Lists {
	b.Helper()
	var list fixed
	for _, name := range many(n) {
		list = append(list, infoOf("acme/"+name))
	}
	l := New(Options{
		Dir:        b.TempDir() + "/models",
		Env:        func(name string) (Value, bool) { return Value{Text: acmeBase}, name == "ACME_API_BASE" },
		NewFetcher: func(Target) (Fetcher, error) { return list, nil },
	})
	if _, err := l.Models(context.Background(), "acme"); err != nil {
		b.Fatal(err)
	}
	return l
}
