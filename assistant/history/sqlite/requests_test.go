package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// sentOf is request n of a pair, with a body that holds text.
func sentOf(p *assistant.Pair, n int, text string) assistant.PairRequest {
	return assistant.PairRequest{Pair: p, SentRequest: assistant.SentRequest{
		Response: n, Attempt: n + 1, Model: "openai/gpt-5.1", At: day.Add(time.Duration(n)), Trimmed: n,
		Body: []byte(fmt.Sprintf(`{ "model":"gpt-5.1",  "messages":[%q]}`, text)),
	}}
}

// requests reads what is stored of a pair.
func requests(t testing.TB, s *store, seq int64) []assistant.SentRequest {
	t.Helper()
	got, err := s.Requests(t.Context(), seq)
	if err != nil {
		t.Fatalf("Requests(%d): %v", seq, err)
	}
	return got
}

// rowsOf counts the rows of the table of requests.
func rowsOf(t testing.TB, s *store) (n int64) {
	t.Helper()
	err := s.Read(t.Context(), func(r *sqlstore.Tx) { n, _ = r.Number("SELECT count(*) FROM request") })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRequestsAreStoredAsTheyWereSent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	s := open(t, path, Options{})
	p, other := pair("x", "one", "1"), pair("x", "two", "2")
	first, second := sentOf(p, 0, "first"), sentOf(p, 1, strings.Repeat("später ", 1000))
	commit(t, s, &assistant.Batch{Put: []*assistant.Pair{other, p}, Requests: []assistant.PairRequest{first}})
	commit(t, s, &assistant.Batch{Put: []*assistant.Pair{p}, Requests: []assistant.PairRequest{second, sentOf(&assistant.Pair{Seq: 99}, 0, "of nobody")}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	got := requests(t, s, p.Seq)
	if want := []assistant.SentRequest{first.SentRequest, second.SentRequest}; asJSON(t, got) != asJSON(t, want) {
		t.Errorf("Requests = %s\nwant %s", asJSON(t, got), asJSON(t, want))
	}
	for i, want := range []assistant.PairRequest{first, second} {
		if !bytes.Equal(got[i].Body, want.Body) || !got[i].At.Equal(want.At) {
			t.Errorf("request %d is not byte for byte what was stored", i)
		}
	}
	if got := requests(t, s, other.Seq); got != nil {
		t.Errorf("a pair without requests has %v", got)
	}
	commit(t, s, &assistant.Batch{Delete: []int64{p.Seq}})
	if n := rowsOf(t, s); n != 0 {
		t.Errorf("%d requests are left of a deleted pair, and of nobody", n)
	}
}

func TestABatchThatFailsKeepsNoRequest(t *testing.T) {
	s := newStore(t)
	p, bad := pair("x", "one", "1"), pair("x", "two", "2")
	bad.Star = 9
	for _, b := range []*assistant.Batch{
		{Put: []*assistant.Pair{p, bad}, Requests: []assistant.PairRequest{sentOf(p, 0, "a")}},
		{Put: []*assistant.Pair{p}, Cut: &assistant.Cut{From: 1}, Requests: []assistant.PairRequest{sentOf(p, 0, "a")}},
	} {
		if err := s.Commit(t.Context(), b); err == nil || p.Seq != 0 || rowsOf(t, s) != 0 {
			t.Errorf("Commit = %v, Seq %d, %d requests", err, p.Seq, rowsOf(t, s))
		}
	}
}

// TestOldRequestsAreDropped holds the bounds of package assistant.
func TestOldRequestsAreDropped(t *testing.T) {
	t.Run("pairs", func(t *testing.T) {
		s := open(t, filepath.Join(t.TempDir(), "h", "history.db"), Options{})
		b := &assistant.Batch{}
		for range assistant.KeptRequestPairs + 3 {
			p := pair("x", "q", "a")
			b.Put = append(b.Put, p)
			b.Requests = append(b.Requests, sentOf(p, 0, "a"), sentOf(p, 1, "b"))
		}
		commit(t, s, b)
		if n := rowsOf(t, s); n != 2*assistant.KeptRequestPairs || requests(t, s, b.Put[2].Seq) != nil || len(requests(t, s, b.Put[3].Seq)) != 2 {
			t.Errorf("%d requests are stored, want %d of the newest pairs", n, 2*assistant.KeptRequestPairs)
		}
		// An old pair that is tried again was sent last.
		commit(t, s, &assistant.Batch{Requests: []assistant.PairRequest{sentOf(b.Put[0], 0, "again")}})
		if len(requests(t, s, b.Put[0].Seq)) != 1 || requests(t, s, b.Put[3].Seq) != nil {
			t.Error("what was sent last is not what is stored")
		}
	})
	t.Run("bytes", func(t *testing.T) {
		s := newStore(t)
		p := pair("x", "q", "a")
		commit(t, s, &assistant.Batch{Put: []*assistant.Pair{p}, Requests: []assistant.PairRequest{sentOf(p, 0, "a"), sentOf(p, 1, "b"), sentOf(p, 2, "c")}})
		err := s.Write(t.Context(), func(tx *sqlstore.Tx) { // as if each were large
			tx.Run("UPDATE request SET packed = ?", assistant.KeptRequestBytes/2-1000)
		})
		if err != nil {
			t.Fatal(err)
		}
		commit(t, s, &assistant.Batch{Requests: []assistant.PairRequest{sentOf(p, 3, "d")}})
		var stored []int
		for _, r := range requests(t, s, p.Seq) {
			stored = append(stored, r.Response)
		}
		if !slices.Equal(stored, []int{1, 2, 3}) {
			t.Errorf("requests %v are stored, want 1 2 3: two halves and a small one", stored)
		}
	})
}

// TestADamagedRequestIsNamed: the others, and the pair, are not lost.
func TestADamagedRequestIsNamed(t *testing.T) {
	for name, damage := range map[string]string{
		"a flipped byte": "UPDATE request SET body = CAST(substr(body, 1, 20) || x'00' || substr(body, 22) AS BLOB) WHERE n = 2",
		"cut off":        "UPDATE request SET body = substr(body, 1, length(body) - 1) WHERE n = 2",
		"no body":        "UPDATE request SET body = x'' WHERE n = 2",
		"another size":   "UPDATE request SET size = size - 1 WHERE n = 2",
		"a larger size":  "UPDATE request SET size = size + 1 WHERE n = 2",
		"a huge size":    "UPDATE request SET size = 1 << 50 WHERE n = 2",
		"a minus size":   "UPDATE request SET size = -1 WHERE n = 2",
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			p := pair("x", "q", "a")
			commit(t, s, &assistant.Batch{Put: []*assistant.Pair{p}, Requests: []assistant.PairRequest{sentOf(p, 0, "first"), sentOf(p, 1, "second"), sentOf(p, 2, "third")}})
			if err := s.Write(t.Context(), func(tx *sqlstore.Tx) { tx.Run(damage) }); err != nil {
				t.Fatal(err)
			}
			got, err := s.Requests(t.Context(), p.Seq)
			if want := fmt.Sprintf("request 2 of response 1 of message %d", p.Seq); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want one with %q", err, want)
			}
			if len(got) != 2 || !strings.Contains(string(got[0].Body), "first") || !strings.Contains(string(got[1].Body), "third") {
				t.Errorf("the whole requests are %v", got)
			}
			report, err := s.Check(t.Context())
			if err != nil || report.Requests != 3 || report.DamagedRequests != 1 || report.Damaged ||
				len(report.Problems) != 1 || !strings.Contains(report.Problems[0], fmt.Sprintf("request 2 of response 1 of message %d", p.Seq)) {
				t.Errorf("Check = %+v, %v", report, err)
			}
			if back := load(t, s, p.Seq); len(back) != 1 || back[0].UserText != "q" {
				t.Errorf("the pair is %v", back)
			}
		})
	}
}

// TestCheckCountsRequests: whole ones are no problem, those of nobody are, and
// many damaged ones are counted but not all named.
func TestCheckCountsRequests(t *testing.T) {
	s := newStore(t)
	p := pair("x", "q", "a")
	b := &assistant.Batch{Put: []*assistant.Pair{p}}
	for i := range sqlstore.MaxProblems + 5 {
		b.Requests = append(b.Requests, sentOf(p, i, "body"))
	}
	commit(t, s, b)
	check := func(sql string) history.CheckReport {
		t.Helper()
		if err := s.Write(t.Context(), func(tx *sqlstore.Tx) { tx.Run(sql) }); err != nil {
			t.Fatal(err)
		}
		report, err := s.Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	if r := check("DELETE FROM request WHERE n > 1000"); r.Requests != sqlstore.MaxProblems+5 || r.DamagedRequests != 0 || len(r.Problems) != 0 {
		t.Errorf("a healthy table: %+v", r)
	}
	if r := check("UPDATE request SET seq = 77"); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "requests of message 77") {
		t.Errorf("requests of nobody: %v", r.Problems)
	}
}

// What is salvaged keeps its requests.
func TestSalvageCopiesRequests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	s := open(t, path, Options{})
	p, lost := pair("x", "q", "a"), pair("x", "q", "a")
	commit(t, s, &assistant.Batch{Put: []*assistant.Pair{p, lost}, Requests: []assistant.PairRequest{sentOf(p, 0, "first"), sentOf(p, 1, "second"), sentOf(lost, 0, "of a lost pair")}})
	err := s.Write(t.Context(), func(tx *sqlstore.Tx) {
		tx.Run("DELETE FROM pair WHERE seq = ?", lost.Seq)
		tx.Run("DELETE FROM body WHERE seq = ?", lost.Seq)
	})
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	damageFile(t, path, func(b []byte) []byte { b[63] ^= 8; return b })
	s, saved := openDamaged(t, path)
	if got := requests(t, s, p.Seq); saved == nil || len(got) != 2 || !strings.Contains(string(got[1].Body), "second") {
		t.Errorf("Salvage = %+v, requests %v", saved, got)
	}
	if n := rowsOf(t, s); n != 2 {
		t.Errorf("%d requests were saved, want those of the saved pair", n)
	}
}

// The requests of an older database are those of the first answers.
func TestOlderRequestsBelongToTheFirstAnswer(t *testing.T) {
	s := open(t, rawDatabase(t, olderVersion), Options{})
	p := &load(t, s, 1)[0]
	commit(t, s, &assistant.Batch{Put: []*assistant.Pair{p}, Requests: []assistant.PairRequest{sentOf(p, 0, "now")}})
	if got := requests(t, s, 1); len(got) != 2 || got[0].Answer != p.AnswerID || string(got[0].Body) != "{}" {
		t.Errorf("Requests = %v", got)
	}
}

// BenchmarkCommitWithRequest shows what a request of 400 KB adds to a commit.
func BenchmarkCommitWithRequest(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for text.Len() < 400_000 {
		fmt.Fprintf(&text, "word%d ", rnd.IntN(5000))
	}
	for name, n := range map[string]int{"none": 0, "one": 1} {
		b.Run(name, func(b *testing.B) {
			s := newStore(b)
			p := pair("x", "q", "a")
			put(b, s, p)
			batch := &assistant.Batch{Put: []*assistant.Pair{p}, KeepMarks: true}
			for i := range n {
				batch.Requests = append(batch.Requests, sentOf(p, i, text.String()))
			}
			for b.Loop() {
				commit(b, s, batch)
			}
		})
	}
}
