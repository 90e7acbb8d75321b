package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

func itoa(n int) string { return strconv.Itoa(n) }

// closedStore makes a database of n pairs and closes it.
func closedStore(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h", "history.db")
	s := open(t, path, Options{})
	for i := range n {
		p := pair("s"+itoa(i%3), "question "+itoa(i), strings.Repeat("answer ", 1+i%50))
		p.ID, p.Topic = fmt.Sprintf("id%04d", i), []string{"", "AI > Agents"}[i%2]
		p.State = []assistant.PairState{assistant.PairComplete, assistant.PairSending}[i%2]
		put(t, s, p)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{}) // ends the pairs that were being sent
	if err := s.SaveDraft(t.Context(), "k", history.Draft{Text: "typed"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if fileSize(path+"-wal") >= 0 {
		t.Fatal("Close did not checkpoint the log")
	}
	return path
}

// openDamaged opens a database that may be damaged; a second time when the
// damage was found only in use.
func openDamaged(t *testing.T, path string) (*store, *history.Salvage) {
	t.Helper()
	for range 2 {
		s, err := openStore(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		report, err := s.Check(t.Context())
		if err != nil {
			t.Fatalf("Check: %v", err)
		}
		if !report.Damaged {
			t.Cleanup(func() { s.Close() })
			return s, s.Report().Salvage
		}
		s.Close()
	}
	t.Fatal("the database is damaged still after it was opened again")
	return nil, nil
}

// checkSaved checks that what is in s is of closedStore, or known to be altered.
func checkSaved(t *testing.T, s *store, saved *history.Salvage, n int, original string) {
	t.Helper()
	pairs := load(t, s, seqs(t, s, "")...)
	if len(pairs) != saved.Salvaged || saved.Salvaged+max(saved.Lost, 0) < n-saved.Altered {
		t.Errorf("%d pairs; Salvage = %+v of %d", len(pairs), *saved, n)
	}
	wrong := 0
	for _, p := range pairs {
		if i := int(p.Seq) - 1; string(p.UserText) != "question "+itoa(i) || p.ID != fmt.Sprintf("id%04d", i) || p.State == assistant.PairSending {
			wrong++
		}
	}
	if wrong > saved.Altered {
		t.Errorf("%d pairs are not what they were; %d known", wrong, saved.Altered)
	}
	if got := readAll(t, saved.SetAside); got != original {
		t.Error("the file set aside was changed")
	}
	p := pair("after", "q", "a")
	put(t, s, p)
	if len(load(t, s, p.Seq)) != 1 {
		t.Error("the new database does not accept pairs")
	}
}

func damageFile(t testing.TB, path string, damage func([]byte) []byte) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, damage(b), 0o600); err != nil {
		t.Fatal(err)
	}
	return readAll(t, path)
}

// Rows that SQL can read are saved, the file is set aside unchanged.
func TestDamagedFileIsSalvaged(t *testing.T) {
	const n = 120
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		least  int // pairs that must be saved
	}{
		"header":         {func(b []byte) []byte { copy(b, "garbage!garbage!"); return b }, 0},
		"whole header":   {func(b []byte) []byte { clear(b[:100]); return b }, 0},
		"version":        {func(b []byte) []byte { b[63] ^= 8; return b }, n},
		"older version":  {func(b []byte) []byte { b[63] = 1; return b }, n},
		"first page":     {func(b []byte) []byte { clear(b[:4096]); return b }, 0},
		"first bytes":    {func(b []byte) []byte { return b[:50] }, 0},
		"cut in half":    {func(b []byte) []byte { return b[:len(b)/2] }, 0},
		"cut by a fifth": {func(b []byte) []byte { return b[:len(b)/5*4] }, n / 2},
		"cut in a page":  {func(b []byte) []byte { return b[:len(b)-1000] }, n / 2},
		"a page of ones": {func(b []byte) []byte { fill(b[len(b)/2/4096*4096:][:4096], 0xff); return b }, n / 2},
		"all zero":       {func(b []byte) []byte { clear(b); return b }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := closedStore(t, n)
			original := damageFile(t, path, c.damage)
			s, saved := openDamaged(t, path)
			if saved == nil {
				t.Fatal("no salvage")
			}
			if saved.Salvaged < c.least {
				t.Errorf("Salvage = %+v; want at least %d", *saved, c.least)
			}
			if c.least > 0 {
				checkSaved(t, s, saved, 0, original)
			}
			if got := readAll(t, saved.SetAside); got != original {
				t.Error("the file set aside was changed")
			}
			again := open(t, path, Options{})
			if again.Report().Salvage != nil {
				t.Error("salvaged twice")
			}
		})
	}
}

// The texts of pairs are saved if their rows are unreadable.
func TestTextsOutliveTheirRows(t *testing.T) {
	const n = 100
	path := closedStore(t, n)
	s := open(t, path, Options{})
	var root int64
	err := s.Read(t.Context(), func(tx *sqlstore.Tx) {
		root, _ = tx.Number("SELECT rootpage FROM sqlite_master WHERE name = 'pair'")
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	lost := 0 // rows below the first child of the root
	damageFile(t, path, func(b []byte) []byte {
		const interior, firstCell = 5, 12
		page := b[(root-1)*4096:][:4096]
		if page[0] != interior {
			t.Fatal("the table has one page only")
		}
		cell := page[binary.BigEndian.Uint16(page[firstCell:]):]
		clear(cell[:4]) // the number of the page
		lost = int(cell[4])
		return b
	})
	s, saved := openDamaged(t, path)
	if saved == nil || saved.Salvaged != n || saved.Altered != lost {
		t.Fatalf("Salvage = %+v, want %d pairs, %d of which are texts alone", saved, n, lost)
	}
	for i, p := range load(t, s, seqs(t, s, "")...) {
		if string(p.UserText) != "question "+itoa(i) || (p.Notice == history.DamagedPair) != (i < lost) {
			t.Errorf("pair %d is %+v", i, p)
		}
	}
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// Bytes flipped anywhere never make an endless crash, and no pair comes
// back other than it was without being counted.
func TestFlippedBytes(t *testing.T) {
	rounds := at.Rounds(6, 25)
	if n, err := strconv.Atoi(os.Getenv(roundsEnv)); err == nil {
		rounds = n
	}
	seed, _ := strconv.ParseUint(os.Getenv(seedEnv), 10, 64)
	r := rand.New(rand.NewPCG(3, seed))
	const n = 60
	whole, err := os.ReadFile(closedStore(t, n))
	if err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			b := append([]byte(nil), whole...)
			within := len(b)
			if round%3 == 0 { // the header and the schema
				within = 6 * 4096
			}
			for range 1 + r.IntN(20) {
				b[r.IntN(within)] ^= byte(1 + r.IntN(255))
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s, saved := openDamaged(t, path)
			if saved != nil {
				checkSaved(t, s, saved, 0, string(b))
			}
		})
	}
}

func TestForeignFileIsSetAsideAndReported(t *testing.T) {
	for name, make := range map[string]func(path string){
		"text": func(path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
				t.Error(err)
			}
		},
		"another database": func(path string) { raw(t, path, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			make(path)
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
			before := readAll(t, path)
			s := open(t, path, Options{})
			saved := s.Report().Salvage
			if saved == nil || !saved.Foreign || saved.Salvaged != 0 {
				t.Fatalf("Salvage = %+v", saved)
			}
			if readAll(t, saved.SetAside) != before {
				t.Error("the foreign file was changed")
			}
			put(t, s, pair("x", "q", "a"))
		})
	}
}

// A log that is missing after a crash is reported.
func TestMissingLogIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	c := startChild(t, "hold", path)
	c.kill()
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	os.Remove(path + "-shm")
	s := open(t, path, Options{})
	if r := s.Report(); !r.LostWAL {
		t.Errorf("Report = %+v; want LostWAL", r)
	}
	put(t, s, pair("x", "q", "a"))
}

// A file that was emptied is damage; one that never held a database is not.
func TestAnEmptiedFileIsDamage(t *testing.T) {
	path := closedStore(t, 5)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{})
	if r := s.Report().Salvage; r == nil || fileSize(r.SetAside) != 0 {
		t.Errorf("Salvage = %+v", r)
	}
	put(t, s, pair("x", "q", "a"))
}

func TestAnEmptiedLogIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	startChild(t, "hold", path).kill()
	if err := os.Truncate(path+"-wal", 0); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{})
	if r := s.Report(); !r.LostWAL {
		t.Errorf("Report = %+v; want LostWAL", r)
	}
}

// A byte that flipped in a stored text is known when the pair is read, and the
// pair says so.
func TestAnAlteredTextIsMarked(t *testing.T) {
	path := closedStore(t, 20)
	const marker = "question 7"
	damageFile(t, path, func(b []byte) []byte {
		at := bytes.Index(b, []byte(marker))
		if at < 0 {
			t.Fatal("the text is not in the file")
		}
		b[at] ^= 1
		return b
	})
	s := open(t, path, Options{})
	altered := 0
	for _, p := range load(t, s, seqs(t, s, "")...) {
		if p.Notice == history.DamagedPair {
			altered++
		} else if strings.HasPrefix(string(p.UserText), "puestion") {
			t.Error("a text that was altered is shown as if it were true")
		}
	}
	if altered != 1 {
		t.Errorf("%d pairs say that they are damaged; want 1", altered)
	}
}

// The sum covers what never changes without the texts, too.
func TestAnAlteredColumnIsMarked(t *testing.T) {
	for _, change := range []string{
		"UPDATE pair SET id = 'other' WHERE seq = 3", "UPDATE pair SET state = 0 WHERE seq = 3", "UPDATE pair SET nsec = nsec + 1 WHERE seq = 3",
		"UPDATE session SET id = id || 'x'", "UPDATE model SET name = 'other'",
	} {
		path := closedStore(t, 5)
		raw(t, path, change)
		s := open(t, path, Options{})
		if got := load(t, s, 3); len(got) != 1 || got[0].Notice != history.DamagedPair {
			t.Errorf("%s: %+v", change, got)
		}
	}
}

func TestEmptyFileIsANewDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{})
	if s.Report().Salvage != nil {
		t.Errorf("Report = %+v", s.Report())
	}
	put(t, s, pair("x", "q", "a"))
}

// A crash between setting the damaged file aside and naming the new one is
// made good at the next start.
func TestInterruptedSalvageIsFinished(t *testing.T) {
	path := closedStore(t, 10)
	if err := os.Rename(path, path+salvageNew); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path+".run", "salvage.json"), []byte(`{"SetAside":"x"}`), fileMode); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{})
	if got := seqs(t, s, ""); len(got) != 10 {
		t.Errorf("%d pairs; want 10", len(got))
	}
}

// A byte flipped inside a text is found by Check, and once known, counted.
func TestCheckFindsAnAlteredText(t *testing.T) {
	path := closedStore(t, 10)
	raw(t, path, "UPDATE pair SET owner = NULL, state = 2", "UPDATE body SET answer = 'other' WHERE seq = 4", "DELETE FROM body WHERE seq = 7", "DELETE FROM session WHERE n = 3")
	s := open(t, path, Options{})
	report, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(report.Problems, "\n")
	for _, want := range []string{"texts of message 4 are damaged", "the texts of message 7 are missing", "the session of message"} {
		if !strings.Contains(all, want) {
			t.Errorf("Check does not say %q:\n%s", want, all)
		}
	}
	if report.Pairs != 10 || report.Topics != 2 || report.Sessions != 2 {
		t.Errorf("Check counts %+v", report)
	}
}

// Damage that a query meets is reported once, and salvaged by the next Open.
func TestDamageFoundInUseIsReportedAndSalvaged(t *testing.T) {
	path := closedStore(t, 200)
	reported := make(chan *history.DamageError, 2)
	s := open(t, path, Options{OnDamage: func(e *history.DamageError) { reported <- e }})
	all := seqs(t, s, "")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // left open: closing it would drop SQLite's locks
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	junk := make([]byte, info.Size()-4096*2)
	fill(junk, 0xee)
	if _, err := f.WriteAt(junk, 4096*2); err != nil {
		t.Fatal(err)
	}
	s.readDB.SetMaxIdleConns(0) // drop what is cached
	s.readDB.SetMaxIdleConns(maxReaders)
	_, err = s.Load(t.Context(), all)
	var damage *history.DamageError
	if !errors.As(err, &damage) || damage.Path != path {
		t.Fatalf("Load = %v; want a DamageError", err)
	}
	if e := <-reported; e.Path != path {
		t.Errorf("reported %v", e)
	}
	s.Close()
	again := open(t, path, Options{})
	if again.Report().Salvage == nil {
		t.Error("the next Open did not salvage")
	}
}

// Nobody else can read what the store writes.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file modes mean nothing here")
	}
	check := func(t *testing.T, dir string) {
		t.Helper()
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if info.Mode().Perm() != want {
				t.Errorf("%s has mode %04o, want %04o", path, info.Mode().Perm(), want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	t.Run("new", func(t *testing.T) {
		s := newStore(t)
		put(t, s, full())
		check(t, filepath.Dir(s.Path()))
	})
	t.Run("wide modes are repaired and reported", func(t *testing.T) {
		path := closedStore(t, 3)
		if err := errors.Join(os.Chmod(path, 0o644), os.Chmod(filepath.Dir(path), 0o755)); err != nil {
			t.Fatal(err)
		}
		s := open(t, path, Options{})
		if r := s.Report().Repaired; len(r) != 2 {
			t.Errorf("Repaired = %q; want folder and file", r)
		}
		check(t, filepath.Dir(path))
	})
	t.Run("salvage and copies", func(t *testing.T) {
		path := closedStore(t, 3)
		damageFile(t, path, func(b []byte) []byte { clear(b[:100]); return b })
		open(t, path, Options{})
		check(t, filepath.Dir(path))
	})
	t.Run("world-writable folder", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "open")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil { // Mkdir heeds the umask
			t.Fatal(err)
		}
		var refused *history.FileError
		if _, err := openStore(t.Context(), filepath.Join(dir, "h.db"), Options{}); !errors.As(err, &refused) {
			t.Errorf("Open = %v; want a FileError", err)
		}
	})
	t.Run("symbolic link", func(t *testing.T) {
		path := closedStore(t, 1)
		link := filepath.Join(t.TempDir(), "link.db")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		var refused *history.FileError
		if _, err := openStore(t.Context(), link, Options{}); !errors.As(err, &refused) || refused.Path != link {
			t.Errorf("Open = %v; want a FileError", err)
		}
	})
}

// What cannot be read is not damaged, and stays where it is.
func TestAFileThatCannotBeReadIsNotDamage(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed to root")
	}
	path := filepath.Join(dir, "h", "history.db")
	s := open(t, path, Options{})
	put(t, s, pair("x", "one", "1"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := openStore(t.Context(), path, Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Open = %v, want that it may not be read", err)
	}
	if err := os.Chmod(path, fileMode); err != nil {
		t.Fatal(err)
	}
	again := open(t, path, Options{})
	if r := again.Report(); r.Salvage != nil {
		t.Errorf("it was treated as damage: %+v", r.Salvage)
	}
	if n := len(seqs(t, again, "")); n != 1 {
		t.Errorf("%d pairs, want the one that was there", n)
	}
}
