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
	"reflect"
	"strings"
	"sync"
	"time"
)

const (
	// schema is the supported version of the file format.
	schema = 2
	// maxFile is the maximum size of a file in bytes; a real file contains about 2 KB for
	// each model and credential.
	maxFile = 64 << 20
)

// Use describes how often a model was used. The zero value means that it was never used.
type Use struct {
	Requests int64     `json:"requests"`
	Tokens   int64     `json:"tokens"`
	Cost     float64   `json:"cost"`           // US dollars, approximate
	First    time.Time `json:"first,omitzero"` // zero if never used
	Last     time.Time `json:"last,omitzero"`  // zero if never used
}

// Report contains the use of one provider's models. In a nil Report, all use is unknown.
type Report struct {
	prefix string         // prefix of the provider's ids
	uses   map[string]Use // by name without the provider
	since  time.Time
}

// ForModel returns the use of a model, given as "provider/name" or as a bare name. ok is
// false if the use of the provider's models is unknown.
func (r *Report) ForModel(model string) (u Use, ok bool) {
	if r == nil {
		return Use{}, false
	}
	return r.uses[strings.TrimPrefix(model, r.prefix)], true
}

// Since returns the time of the earliest use of any model: the proxy has been counting at
// least since then. It returns the zero time if that is unknown.
func (r *Report) Since() time.Time {
	if r == nil {
		return time.Time{}
	}
	return r.since
}

// Dir reads the usage files of one proxy, and asks the proxy if there are none. With the
// zero value, all use is unknown.
type Dir struct {
	path string
	ask  Asker

	mu    sync.Mutex
	files map[string]file // by provider

	proxy proxyAnswer
}

// file is the result of the last read of a file.
type file struct {
	size     int64
	modified time.Time
	report   *Report
	err      error
}

// Open returns the usage files in the proxy's data folder. ask is called if no file can be
// read; it may be nil. Open does no I/O.
func Open(dataFolder string, ask Asker) *Dir {
	return &Dir{path: filepath.Join(dataFolder, "usage"), ask: ask, files: map[string]file{}}
}

// Report returns the use of a provider's models, from its file or else from the running
// proxy. If there is neither, it returns nil without an error. An error explains why the
// file or the response cannot be used. A report returned together with an error comes from
// the proxy.
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
		return counted, fmt.Errorf("the usage of %s models was read from the running proxy, because %w", provider, err)
	case err == nil:
		err = proxyErr
	}
	if err != nil {
		return nil, fmt.Errorf("the usage of %s models is unknown: %w", provider, err)
	}
	return counted, nil
}

// fromFile returns the report in a provider's file, or nil if there is no file. It reads
// the file again if its size or modification time has changed.
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

// stored is the part of a file that is read; keys and names of credentials are ignored.
type stored struct {
	Schema      int                   `json:"schema_version"`
	Credentials map[string]credential `json:"credentials"`
}

type credential struct {
	Models map[string]struct {
		Totals totals `json:"totals"`
	} `json:"model_usage"`
}

// totals are the counts of a model; null counts as 0.
type totals struct {
	Requests float64 `json:"request_count"`
	Tokens   float64 `json:"total_tokens"`
	Cost     float64 `json:"approx_cost"`
	First    float64 `json:"first_used_at"` // Unix seconds
	Last     float64 `json:"last_used_at"`
}

// read reads a usage file. The error continues a sentence that starts with the name of the
// file.
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

// newReport adds up the counts of a provider's models over all credentials.
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

// jsonReason describes an error of package json without quoting the file, which contains
// keys.
func jsonReason(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		found, _, _ := strings.Cut(wrong.Value, " ") // the rest may be a value
		return fmt.Sprintf("wrong JSON type at byte %d: %s instead of %s", wrong.Offset, found, jsonType(wrong.Type.Kind()))
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("invalid JSON at byte %d", wrong.Offset)
	}
	return "invalid JSON"
}

// jsonType returns the name of the JSON type that is decoded into a kind of Go type.
func jsonType(kind reflect.Kind) string {
	switch kind {
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice:
		return "array"
	case reflect.String, reflect.Bool:
		return kind.String()
	default:
		return "number"
	}
}

// add adds the counts of the same model for another credential.
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

// whole converts a count to an integer; invalid counts become 0.
func whole(n float64) int64 {
	if n > 0 && n < math.MaxInt64 {
		return int64(n)
	}
	return 0
}

// lastTime is the end of the year 9999 in Unix seconds, the latest time that JSON can
// represent.
const lastTime = 253402300799

// at converts Unix seconds to a time; 0 and invalid values become the zero time.
func at(seconds float64) time.Time {
	if !(seconds > 0 && seconds <= lastTime) {
		return time.Time{}
	}
	return time.UnixMilli(int64(seconds * 1000)).UTC()
}
