package usage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	// schema is the version of the file format that is understood.
	schema = 2
	// maxFile bounds a file in bytes; a real one has about 2 KB for each model and credential.
	maxFile = 64 << 20
)

// Use is how often a model was used. The zero value is a model that was never used.
type Use struct {
	Requests int64     `json:"requests"`
	Tokens   int64     `json:"tokens"`
	Cost     float64   `json:"cost"`           // US dollars, approximate
	First    time.Time `json:"first,omitzero"` // zero: never
	Last     time.Time `json:"last,omitzero"`  // zero: never
}

// Report is the use of one provider's models. A nil Report knows nothing.
type Report struct {
	prefix string         // of the provider's ids
	uses   map[string]Use // by name without the provider
	since  time.Time
}

// Of returns the use of a model, "provider/name" or a bare name. ok is false when the
// use of the provider's models is unknown.
func (r *Report) Of(model string) (u Use, ok bool) {
	if r == nil {
		return Use{}, false
	}
	return r.uses[strings.TrimPrefix(model, r.prefix)], true
}

// Since is when the first of the models was used for the first time: the proxy counts from
// then at the latest. It is zero when that is unknown.
func (r *Report) Since() time.Time {
	if r == nil {
		return time.Time{}
	}
	return r.since
}

// Dir reads the usage files of one proxy, and asks the proxy where there is none. The
// zero value knows no use of any model.
type Dir struct {
	path string
	ask  Asker

	mu    sync.Mutex
	files map[string]file // by provider

	proxy proxyAnswer
}

// file is what the last read of a file returned.
type file struct {
	size     int64
	modified time.Time
	report   *Report
	err      error
}

// Open returns the usage files below the proxy's data folder, and what ask returns where
// no file can be read; nil asks nothing. It does no I/O.
func Open(dataFolder string, ask Asker) *Dir {
	return &Dir{path: filepath.Join(dataFolder, "usage"), ask: ask, files: map[string]file{}}
}

// Report returns the use of a provider's models: of its file, else from the running proxy.
// Without either, the report is nil and there is no error. The error of a file or an answer
// that cannot be used says why; a report beside the error of a file is the proxy's.
func (d *Dir) Report(provider string) (*Report, error) {
	if d == nil || d.path == "" || provider == "" || strings.ContainsAny(provider, `/\`) {
		return nil, nil
	}
	report, err := d.fromFile(provider)
	if report != nil {
		return report, nil
	}
	counted, proxyErr := d.fromProxy(provider)
	switch {
	case counted != nil && err != nil:
		return counted, fmt.Errorf("the use of %s models is what the running proxy has counted: %w", provider, err)
	case err == nil:
		err = proxyErr
	}
	if err != nil {
		return nil, fmt.Errorf("the use of %s models is unknown: %w", provider, err)
	}
	return counted, nil
}

// fromFile returns the report of a provider's file, which is read again after its size or
// modification time has changed; nil without a file.
func (d *Dir) fromFile(provider string) (*Report, error) {
	path := filepath.Join(d.path, "usage_"+provider+".json")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if f, ok := d.files[provider]; ok && f.size == info.Size() && f.modified.Equal(info.ModTime()) {
		return f.report, f.err
	}
	f := file{size: info.Size(), modified: info.ModTime()}
	if f.report, err = read(path, provider); err != nil {
		f.err = fmt.Errorf("%s %w", path, err)
	}
	d.files[provider] = f
	return f.report, f.err
}

// stored is what is read of a file; keys and names of credentials are left out.
type stored struct {
	Schema      int                   `json:"schema_version"`
	Credentials map[string]credential `json:"credentials"`
}

type credential struct {
	Models map[string]struct {
		Totals totals `json:"totals"`
	} `json:"model_usage"`
}

// totals are the counts of a model; a null is 0.
type totals struct {
	Requests float64 `json:"request_count"`
	Tokens   float64 `json:"total_tokens"`
	Cost     float64 `json:"approx_cost"`
	First    float64 `json:"first_used_at"` // Unix seconds
	Last     float64 `json:"last_used_at"`
}

// read reads a usage file. The error continues the sentence "FILE …".
func read(path, provider string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be opened: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("is larger than %d MiB", maxFile>>20)
	}
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("is not a usage file: %s", jsonReason(err))
	}
	if s.Schema != schema {
		return nil, fmt.Errorf("has schema version %d; winnow reads version %d", s.Schema, schema)
	}
	return newReport(provider, s.Credentials), nil
}

// newReport sums the counts of a provider's models over the credentials.
func newReport(provider string, credentials map[string]credential) *Report {
	sums := map[string]totals{}
	for _, c := range credentials {
		for model, m := range c.Models {
			name := strings.TrimPrefix(model, provider+"/")
			sums[name] = sums[name].add(m.Totals)
		}
	}
	r := &Report{prefix: provider + "/", uses: make(map[string]Use, len(sums))}
	for name, sum := range sums {
		use := sum.use()
		if r.uses[name] = use; !use.First.IsZero() && (r.since.IsZero() || use.First.Before(r.since)) {
			r.since = use.First
		}
	}
	return r
}

// jsonReason describes an error of package json without quoting the file, which holds keys.
func jsonReason(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("byte %d is a %s where a %s is expected", wrong.Offset, strings.Fields(wrong.Value + " ")[0], wrong.Type.Kind())
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("invalid JSON at byte %d", wrong.Offset)
	}
	return "invalid JSON"
}

// add sums the counts of one model at two credentials.
func (t totals) add(o totals) totals {
	t.Requests, t.Tokens, t.Cost = t.Requests+max(o.Requests, 0), t.Tokens+max(o.Tokens, 0), t.Cost+max(o.Cost, 0)
	if t.First <= 0 || o.First > 0 && o.First < t.First {
		t.First = o.First
	}
	t.Last = max(t.Last, o.Last)
	return t
}

func (t totals) use() Use {
	return Use{Requests: whole(t.Requests), Tokens: whole(t.Tokens), Cost: t.Cost, First: at(t.First), Last: at(t.Last)}
}

// whole is a count as an integer; what cannot be a count is 0.
func whole(n float64) int64 {
	if n > 0 && n < math.MaxInt64 {
		return int64(n)
	}
	return 0
}

// lastTime is the end of the year 9999 in Unix seconds, the latest time that JSON can hold.
const lastTime = 253402300799

// at is a time in Unix seconds; zero for 0 and for what cannot be a time.
func at(seconds float64) time.Time {
	if !(seconds > 0 && seconds <= lastTime) {
		return time.Time{}
	}
	return time.UnixMilli(int64(seconds * 1000)).UTC()
}
