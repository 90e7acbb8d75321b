package safetext

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// Writer redacts what is written through it, also a secret that is split over
// several writes: a tail that may begin a secret waits for the next write or
// for Flush. It is safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	to   io.Writer
	by   *Redactor
	held string // the beginning of what may be a secret; shorter than its longest form
}

// NewWriter returns a Writer to w. It does not close w.
func (r *Redactor) NewWriter(w io.Writer) *Writer { return &Writer{to: w, by: r} }

// Write redacts p and writes what is certain. It takes all of p unless the
// writer below fails, whose error it returns.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.held + string(p)
	w.held = ""
	if t := w.by.current(); t != nil {
		text, w.held = t.replace(text, true)
	}
	if text != "" {
		if _, err := io.WriteString(w.to, text); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Flush writes what was held back; call it when nothing more will come.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.by.Redact(w.held)
	w.held = ""
	if text == "" {
		return nil
	}
	_, err := io.WriteString(w.to, text)
	return err
}

// ReplaceAttr is for slog.HandlerOptions: it redacts keys, strings, errors and
// whatever else prints or marshals to text that holds a secret.
func (r *Redactor) ReplaceAttr(_ []string, a slog.Attr) slog.Attr {
	a.Key = r.Redact(a.Key)
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(r.Redact(a.Value.String()))
	case slog.KindAny:
		a.Value = r.redactAny(a.Value)
	default:
	}
	return a
}

// redactAny keeps a value whose text holds no secret in any form that a
// handler may print it in, and replaces another by its redacted text.
func (r *Redactor) redactAny(v slog.Value) slog.Value {
	raw, isBytes := v.Any().([]byte)
	if isBytes {
		return slog.StringValue(r.Redact(string(raw)))
	}
	for _, text := range []string{fmt.Sprintf("%+v", v.Any()), asJSON(v.Any())} {
		if clean := r.Redact(text); clean != text {
			return slog.StringValue(clean)
		}
	}
	return v
}

// asJSON returns v as the JSON handler would print it, empty when it cannot.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
