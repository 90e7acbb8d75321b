package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// benchEnv names a folder in which the databases of the benchmarks are kept
// between runs; with it the one of a million pairs is measured too.
const benchEnv = "WINNOW_HISTORY_BENCH"

// benchStore returns the path of a database of n pairs.
func benchStore(b *testing.B, n int) string {
	b.Helper()
	dir := os.Getenv(benchEnv)
	if dir == "" {
		if n > 100_000 {
			b.Skip("set " + benchEnv + " to a folder to measure this")
		}
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("winnow-bench-%d", os.Getpid()))
		b.Cleanup(func() { os.RemoveAll(dir) })
	}
	path := filepath.Join(dir, fmt.Sprint(n), "history.db")
	if _, err := os.Stat(path + ".ready"); err == nil {
		return path
	}
	s, err := openStore(context.Background(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	sample(b, s, n)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path+".ready", nil, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// sizes are the stores that are measured: how many pairs they hold.
var sizes = []int{100_000, 1_000_000}

// BenchmarkOpen is a start: the database and the newest screenful.
func BenchmarkOpen(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := benchStore(b, n)
			b.ResetTimer()
			for range b.N {
				s, err := openStore(b.Context(), path, Options{})
				if err != nil {
					b.Fatal(err)
				}
				for refs, err := range s.Stream(b.Context(), nil, history.Env{}) {
					if err != nil {
						b.Fatal(err)
					}
					var seqs []int64
					for _, r := range refs[len(refs)-30:] {
						seqs = append(seqs, r.Seq)
					}
					if got := load(b, s, seqs...); len(got) != 30 {
						b.Fatal(len(got))
					}
					break
				}
				b.StopTimer()
				s.Close()
				b.StartTimer()
			}
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := benchStore(b, n)
			s := open(b, path, Options{})
			if _, err := s.Refresh(b.Context()); err != nil {
				b.Fatal(err)
			}
			for _, line := range []string{
				"", "s>1 m'*gpt*' b", "t'AI...' d<300d !e", "r5000 | x'session7'", "o",
				"c'kubernetes'", "c'kuber*tes' s3", "c'eta'", "c'qqqqqq'",
			} {
				q, err := filter.Parse(line)
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%q", line), func(b *testing.B) {
					n := 0
					for range b.N {
						r, err := s.Filter(b.Context(), q, history.Env{Env: filter.Env{Now: day}})
						if err != nil {
							b.Fatal(err)
						}
						n = len(r.Refs)
					}
					b.ReportMetric(float64(n), "pairs")
				})
			}
		})
	}
}

// BenchmarkFirstScreen is the first piece of a line that has to read.
func BenchmarkFirstScreen(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := benchStore(b, n)
			s := open(b, path, Options{})
			for _, line := range []string{"c'ta'", "c/t[ao] /"} {
				q, _ := filter.Parse(line)
				b.Run(fmt.Sprintf("%q", line), func(b *testing.B) {
					for range b.N {
						for refs, err := range s.Stream(b.Context(), q, history.Env{}) {
							if err != nil || len(refs) < 30 {
								b.Fatal(len(refs), err)
							}
							break
						}
					}
				})
			}
		})
	}
}

func BenchmarkCommit(b *testing.B) {
	s := newStore(b)
	for i := range b.N {
		if err := s.Commit(b.Context(), &assistant.Batch{Put: []*assistant.Pair{pair("x", fmt.Sprint(i), "answer")}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPayloads is the list of payloads of a message under a line that shows all.
func BenchmarkPayloads(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, err := openStore(b.Context(), benchStore(b, n), Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			refs, err := s.Refs(b.Context(), "", 3.5)
			if err != nil {
				b.Fatal(err)
			}
			var seqs []int64
			for _, r := range refs {
				seqs = append(seqs, r.Seq)
			}
			for b.Loop() {
				if _, err := s.Payloads(b.Context(), seqs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
