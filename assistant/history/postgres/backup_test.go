//go:build unix

package postgres

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"winnow/assistant"
)

// A backup as the help describes it restores everything, and the restored database can be written.
func TestABackupIsRestored(t *testing.T) {
	t.Parallel()
	s := needServer(t)
	for _, tool := range []string{"pg_dump", "pg_restore"} {
		if _, err := exec.LookPath(filepath.Join(s.bin, tool)); err != nil {
			t.Skip("no " + tool + ": install PostgreSQL's client programs")
		}
	}
	address := newHistory(t)
	original := openAt(t, address, Options{})
	g := generator{rand.New(rand.NewPCG(1, 2))}
	var seqs []int64
	for range 30 {
		p := g.pair()
		must(t, original.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
		seqs = append(seqs, p.Seq)
	}
	tool := func(name string, args ...string) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(s.bin, name), args...)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
	}
	dump := filepath.Join(t.TempDir(), "winnow.dump")
	tool("pg_dump", "-Fc", "-f", dump, address)
	restored := s.newDatabase(t)
	tool("pg_restore", "-d", restored, dump)

	copied := openAt(t, restored, Options{})
	report, err := copied.Check(t.Context())
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("the check of the restored history: %+v, %v", report, err)
	}
	want, err := original.Load(t.Context(), seqs)
	must(t, err)
	got, err := copied.Load(t.Context(), seqs)
	must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Error("the restored messages differ")
	}
	p := &assistant.Pair{Session: "s", UserText: "Kubernetes"}
	must(t, copied.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
	if found := selects(t, copied, "c'kubernetes'"); len(found) != 1 || found[0] != p.Seq || p.Seq <= seqs[len(seqs)-1] {
		t.Errorf("a new message has the seq %d and is found at %v", p.Seq, found)
	}
	if notices := strings.Join(copied.Report().Notices, "; "); notices != "" {
		t.Errorf("the restored history has the notices %s", notices)
	}
}
