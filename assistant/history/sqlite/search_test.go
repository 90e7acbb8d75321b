package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
	"winnow/assistant/safetext"
)

// oracle is the plain way: all pairs in memory, each judged by the definition.
type oracle struct {
	pairs []assistant.Pair // in order
	env   history.Env
}

func (o *oracle) eval(t rapid.TB, line string) []int64 {
	t.Helper()
	q, err := filter.Parse(line)
	if err != nil {
		t.Fatalf("Parse(%s): %v", line, err)
	}
	x, err := filter.Expand(q, o.env.Saved)
	if err != nil {
		t.Fatalf("Expand(%s): %v", line, err)
	}
	seqs := []int64{}
	base := map[int]int{} // place of a pair in the base
	for i := range o.pairs {
		if o.holds(filter.Base(x), i, nil) {
			base[i] = len(base)
		}
	}
	included := len(base)
	if o.env.Fits != nil {
		included = o.env.Fits(make([]assistant.Ref, len(base)))
	}
	for i, p := range o.pairs {
		place, in := base[i]
		rank := place - (len(base) - included)
		if filter.UsesBoundary(x) && !in {
			continue
		}
		if o.holds(x, i, func(extra int) bool { return rank >= -extra }) {
			seqs = append(seqs, p.Seq)
		}
	}
	return seqs
}

// holds is the definition of the language, term by term, for pair i.
func (o *oracle) holds(x filter.Expr, i int, included func(extra int) bool) bool {
	p := &o.pairs[i]
	is := func(x filter.Expr) bool { return o.holds(x, i, included) }
	switch x := x.(type) {
	case nil:
		return true
	case filter.And:
		return !slices.ContainsFunc(x.Terms, func(t filter.Expr) bool { return !is(t) })
	case filter.Or:
		return slices.ContainsFunc(x.Terms, is)
	case filter.Not:
		return !is(x.X)
	case filter.Topic:
		return x.Matches(p.Topic)
	case filter.TopicSelected:
		return strings.EqualFold(p.Topic, o.env.SelectedTopic)
	case filter.TopicLast:
		return o.below(p.Topic) && o.fewer(x.N, i, func(q *assistant.Pair) bool { return o.below(q.Topic) })
	case filter.Stars:
		return compare(x.Op, p.Star-x.N)
	case filter.Recent:
		return len(o.pairs)-i <= x.N
	case filter.Flag:
		return p.Flag == x.Flagged
	case filter.Model:
		return x.Matches(p.Model, o.env.SelectedModel)
	case filter.Author:
		return x.Matches(p.Author, o.env.User)
	case filter.Age:
		return compare(x.Op, x.Instant(o.env.Now.In(o.env.Location)).Compare(p.CreatedAt))
	case filter.Day:
		from, to := x.Span(o.env.Location)
		return compare(x.Op, day3(p.CreatedAt, from, to))
	case filter.Content:
		return has(string(p.UserText), x.Parts) || has(string(p.AssistantText), x.Parts)
	case filter.Word:
		word := []string{x.Text}
		return has(string(p.UserText), word) || has(string(p.AssistantText), word) || has(string(p.Reasoning), word)
	case filter.Regexp:
		re := regexp.MustCompile("(?i)" + x.Source)
		return re.MatchString(string(p.UserText)) || re.MatchString(string(p.AssistantText))
	case filter.Failed:
		return p.State == assistant.PairError
	case filter.Attachments:
		return len(p.Attachments) > 0
	case filter.Session:
		return strings.HasPrefix(p.Session, x.Prefix)
	case filter.SessionCurrent:
		return p.Session == o.env.Session
	case filter.Boundary:
		return included(x.Extra)
	case filter.Saved: // the lines of the test hold none
	}
	panic(fmt.Sprintf("no definition of %T", x))
}

func (o *oracle) below(topic string) bool {
	selected := strings.ToLower(o.env.SelectedTopic)
	topic = strings.ToLower(topic)
	return topic == selected || selected != "" && strings.HasPrefix(topic, selected+" > ")
}

// fewer reports whether fewer than n pairs after i pass.
func (o *oracle) fewer(n, i int, passes func(*assistant.Pair) bool) bool {
	for j := i + 1; j < len(o.pairs) && n > 0; j++ {
		if passes(&o.pairs[j]) {
			n--
		}
	}
	return n > 0
}

// compare applies an operator to the sign of a difference.
func compare(op filter.Op, sign int) bool {
	return map[filter.Op]bool{filter.Equal: sign == 0, filter.Less: sign < 0, filter.LessEqual: sign <= 0, filter.Greater: sign > 0, filter.GreaterEqual: sign >= 0}[op]
}

// day3 is the sign of a time compared with a day.
func day3(at, from, to time.Time) int {
	switch {
	case at.Before(from):
		return -1
	case at.Before(to):
		return 0
	}
	return 1
}

// has finds parts one after the other, whatever their case.
func has(text string, parts []string) bool {
	text = strings.ToLower(text)
	for _, part := range parts {
		_, rest, found := strings.Cut(text, strings.ToLower(part))
		if !found {
			return false
		}
		text = rest
	}
	return true
}

func refSeqs(refs []assistant.Ref) []int64 {
	out := []int64{}
	for _, r := range refs {
		out = append(out, r.Seq)
	}
	return out
}

// compare checks Filter, Count and Stream of one line against the definition.
func (o *oracle) compare(t rapid.TB, s *store, line string) {
	t.Helper()
	want := o.eval(t, line)
	q, _ := filter.Parse(line)
	ctx := context.Background()
	got, err := s.Filter(ctx, q, o.env)
	if err != nil || !slices.Equal(refSeqs(got.Refs), want) {
		t.Fatalf("Filter(%s) = %v, %v; want %v", line, refSeqs(got.Refs), err, want)
	}
	if n, err := s.Count(ctx, q, o.env); n != len(want) || err != nil {
		t.Fatalf("Count(%s) = %d, %v; want %d", line, n, err, len(want))
	}
	streamed := []int64{}
	for refs, err := range s.Stream(ctx, q, o.env) {
		if err != nil {
			t.Fatalf("Stream(%s): %v", line, err)
		}
		streamed = append(refSeqs(refs), streamed...)
	}
	if !slices.Equal(streamed, want) {
		t.Fatalf("Stream(%s) = %v; want %v", line, streamed, want)
	}
}

// letters of the random texts: few, so that needles are found; some that fold,
// that the index does not tell apart, or that mean something to it.
var letters = []rune(`aaabbcABC İK"*' 你好é` + "\x00\ufffd\ufffe")

func drawText(t *rapid.T, name string, most int) string {
	return rapid.StringOfN(rapid.SampledFrom(letters), 0, most, -1).Draw(t, name)
}

func drawPair(t *rapid.T) *assistant.Pair {
	p := pair(
		rapid.SampledFrom([]string{"s1", "s2", "t3"}).Draw(t, "session"),
		drawText(t, "user", 12), drawText(t, "answer", 12))
	if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
		p.UserText += "\xffab\xc3"
	}
	p.Reasoning = safetext.Text(drawText(t, "reasoning", 8))
	p.Topic = rapid.SampledFrom([]string{"", "AI", "AI > Agents", "Work", "Work > AI"}).Draw(t, "topic")
	p.Model = rapid.SampledFrom([]string{"openai/gpt-5", "Anthropic/claude", "x"}).Draw(t, "model")
	p.Star, p.Flag = rapid.IntRange(0, 3).Draw(t, "star"), rapid.Bool().Draw(t, "flag")
	p.State = rapid.SampledFrom([]assistant.PairState{assistant.PairIdle, assistant.PairSending, assistant.PairComplete, assistant.PairError}).Draw(t, "state")
	p.CreatedAt = day.Add(time.Duration(rapid.IntRange(-60, 60).Draw(t, "age")) * 8 * time.Hour)
	if rapid.Bool().Draw(t, "attached") {
		p.Attachments = []assistant.Attachment{{Name: "a"}}
	}
	return p
}

func drawLine(t *rapid.T) string {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	terms := []string{
		"t'AI...'", "t'AI'", "t'nowhere'", "t", "t2", "s>1", "s0", "r5", "r0", "b", "g", "m'*gpt*'", "m'CLAUDE'", "m",
		"d<7d", "d>2w", "d2026-03-04", "d<=2026-03-01", "e", "i", "x", "x's'", "o", "o2", "@saved", "c/a.b/", "c/^$/",
		"aab", "ABC", "bbb", "caB", "İKa", "éab",
	}
	var expr func(depth int) string
	expr = func(depth int) string {
		switch n := rapid.IntRange(0, 9).Draw(t, "form"); {
		case n < 3 && depth > 0:
			return "(" + expr(depth-1) + " & " + expr(depth-1) + ")"
		case n < 5 && depth > 0:
			return "(" + expr(depth-1) + " | " + expr(depth-1) + ")"
		case n == 5 && depth > 0:
			return "!" + expr(depth-1)
		case n < 8:
			needle := ""
			for needle == "" {
				needle = rapid.StringOfN(rapid.SampledFrom(letters), 1, 5, -1).Draw(t, "needle")
			}
			return "c" + quote(needle)
		}
		return rapid.SampledFrom(terms).Draw(t, "term")
	}
	return expr(3)
}

// The result of every line is that of the definition, after any changes, and in a
// process that made none of them.
func TestALineSelectsWhatItsDefinitionSays(t *testing.T) {
	dir := t.TempDir()
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		path := filepath.Join(dir, fmt.Sprint(round), "h.db")
		s, err := openStore(context.Background(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		other, err := openStore(context.Background(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		o := &oracle{env: history.Env{Env: filter.Env{
			Now: day.Add(time.Hour), Location: time.UTC, SelectedTopic: "AI", SelectedModel: "x", Session: "s1",
		}, Fits: func(base []assistant.Ref) int { return min(len(base), 3) }}}
		o.env.Saved = func(name string) (string, bool) { return "s>0|c'ab'", name == "saved" }
		for range rapid.IntRange(1, 3).Draw(t, "batches") {
			b := &assistant.Batch{}
			for range rapid.IntRange(0, 8).Draw(t, "new") {
				b.Put = append(b.Put, drawPair(t))
			}
			for _, p := range o.pairs {
				switch rapid.IntRange(0, 5).Draw(t, "edit") {
				case 0:
					changed := drawPair(t)
					changed.Seq, changed.ID = p.Seq, p.ID
					b.Put = append(b.Put, changed)
				case 1:
					b.Delete = append(b.Delete, p.Seq)
				}
			}
			if err := s.Commit(context.Background(), b); err != nil {
				t.Fatal(err)
			}
			o.apply(b)
			for range 4 {
				line := drawLine(t)
				o.compare(t, s, line)
				o.compare(t, other, line)
			}
		}
	})
}

func (o *oracle) apply(b *assistant.Batch) {
	bySeq := map[int64]assistant.Pair{}
	for _, p := range o.pairs {
		bySeq[p.Seq] = p
	}
	for _, seq := range b.Delete {
		delete(bySeq, seq)
	}
	for _, p := range b.Put {
		bySeq[p.Seq] = *p
	}
	o.pairs = nil
	for _, p := range bySeq {
		o.pairs = append(o.pairs, p)
	}
	slices.SortFunc(o.pairs, func(a, b assistant.Pair) int { return int(a.Seq - b.Seq) })
}

// sample fills a store with n random pairs in batches and returns them.
func sample(t testing.TB, s *store, n int) []assistant.Pair {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 5000)
	for i := range words {
		b := make([]byte, 2+r.IntN(8))
		for j := range b {
			b[j] = "etaoinshrdlucmfwypvbgkjqxz"[min(25, int(r.ExpFloat64()*6))]
		}
		words[i] = string(b)
	}
	zipf := rand.NewZipf(r, 1.2, 8, uint64(len(words)-1))
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[zipf.Uint64()])
			b.WriteByte(' ')
		}
		return b.String()
	}
	var all []assistant.Pair
	for len(all) < n {
		batch := &assistant.Batch{}
		for range min(1000, n-len(all)) {
			p := pair(fmt.Sprint("session", (len(all)+len(batch.Put))/50), text(8), text(25))
			p.Topic = []string{"", "AI", "AI > Agents", "Work"}[r.IntN(4)]
			p.Model = []string{"openai/gpt-5", "anthropic/claude", "x/y"}[r.IntN(3)]
			p.Star = r.IntN(4)
			p.CreatedAt = day.Add(time.Duration(r.IntN(10000)) * time.Hour)
			if r.IntN(100) == 0 {
				p.AssistantText += "Kubernetes"
			}
			batch.Put = append(batch.Put, p)
		}
		commit(t, s, batch)
		for _, p := range batch.Put {
			all = append(all, *p)
		}
	}
	return all
}

// More pairs than one piece of a stream: the other side of the property above.
func TestALineSelectsWhatItsDefinitionSaysOfManyPairs(t *testing.T) {
	s := newStore(t)
	o := &oracle{pairs: sample(t, s, 6151), env: history.Env{Env: filter.Env{Now: day, Location: time.UTC, SelectedTopic: "AI"}}}
	for _, line := range []string{
		"", "c'kubernetes'", "c'KUBER*netes'", "c'kubernetes*z'", "c'e*kube'", "c'ta e'", "!c'kubernetes' s3", "c'zzzzzzz'", "c'q'", "c/kube?r/", "t'AI...' d<30d", "r100 s1",
		"t50", "x'session7' | c'kubernetes' r2000", "o5", "s3 | o", "!(s3 o)", "c'kubernetes' | !o",
	} {
		o.compare(t, s, line)
	}
	commit(t, s, &assistant.Batch{Delete: []int64{o.pairs[5].Seq, o.pairs[2000].Seq}})
	o.pairs = slices.Delete(slices.Delete(o.pairs, 2000, 2001), 5, 6)
	o.compare(t, s, "c'kubernetes' | s2")
}

// A pair is found by its texts as they are, and no longer by earlier ones or after its end.
func TestTheIndexFollowsEachCommit(t *testing.T) {
	s := newStore(t)
	p, other := pair("x", "about kubernetes", "a"), pair("x", "about nothing", "a")
	put(t, s, p, other)
	check := func(want map[string]int) {
		t.Helper()
		for line, n := range want {
			q, _ := filter.Parse(line)
			if got, err := s.Count(t.Context(), q, history.Env{}); got != n || err != nil {
				t.Errorf("Count(%s) = %d, %v; want %d", line, got, err, n)
			}
		}
		err := s.Read(t.Context(), func(tx *sqlstore.Tx) {
			if n, _ := tx.Number("SELECT count(*) FROM words"); n != int64(want["c'about'"]) {
				t.Errorf("%d pairs are indexed, want %d", n, want["c'about'"])
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
	check(map[string]int{"c'kubernetes'": 1, "c'about'": 2})
	p.UserText = "about docker"
	put(t, s, p)
	check(map[string]int{"c'kubernetes'": 0, "c'docker'": 1, "c'nothing'": 1, "c'about'": 2})
	commit(t, s, &assistant.Batch{Delete: []int64{p.Seq}})
	check(map[string]int{"c'docker'": 0, "c'nothing'": 1, "c'about'": 1})
}

func TestUnknownNamesAreHinted(t *testing.T) {
	s := newStore(t)
	p := pair("abc", "q", "a")
	p.Topic = "AI > Agents"
	put(t, s, p)
	q, _ := filter.Parse("t'Agent' | x'zz'")
	got, err := s.Filter(t.Context(), q, history.Env{})
	if err != nil || len(got.Refs) != 0 || len(got.Hints) != 2 {
		t.Errorf("Filter = %+v, %v; want no pairs and two hints", got, err)
	}
}
