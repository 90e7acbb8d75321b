package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
)

// ImportReport contains the counts of an Import.
type ImportReport struct {
	Added int
	Known int // pairs skipped because the store already has a pair with the same ID
}

// ImportTarget is the part of a store to which an import adds pairs and sessions.
type ImportTarget interface {
	history.Pairs
	Session(ctx context.Context, id string) (history.Session, bool, error)
	Touch(ctx context.Context, v history.Session) error
}

// Import reads an export in JSON and appends its pairs to the stream in order, with the titles of their sessions and
// the points at which sessions branch from others. It skips pairs whose IDs are already in the store, so it can be
// repeated, even after an error; the pairs added before the error stay in the store. A pair that was exported while it
// was being sent is imported as interrupted. progress is called after each transaction; it may be nil.
func Import(ctx context.Context, s ImportTarget, r io.Reader, progress func(done int)) (report ImportReport, err error) {
	if progress == nil {
		progress = func(int) {}
	}
	a := appender{to: s, progress: progress}
	sessions, err := decodeExport(json.NewDecoder(r), func(p *assistant.Pair) error { return a.add(ctx, p) })
	if err == nil {
		err = a.flush(ctx)
	}
	if err == nil {
		err = addSessions(ctx, s, sessions)
	}
	report = ImportReport{Added: a.added, Known: a.known}
	return report, err
}

var errNoExport = errors.New("the input is not a JSON export from winnow")

// faultOf describes an error of decoding in the words of JSON instead of Go. It returns other errors unchanged.
func faultOf(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		return fmt.Errorf("%s cannot be a JSON %s", cmp.Or(field, "it"), wrong.Value)
	}
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Errorf("%s is not a time such as 2026-01-02T15:04:05Z", wrong.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the input ends too early")
	}
	return err
}

// decodeExport calls f for every pair of an export, and returns the sessions of the export. A file written by hand may
// lack the meta field.
func decodeExport(d *json.Decoder, f func(*assistant.Pair) error) (sessions []exportedSession, err error) {
	if err := delim(d, '{'); errors.Is(err, io.EOF) {
		return nil, errors.New("the input is empty")
	} else if errors.As(err, new(*json.SyntaxError)) {
		return nil, errNoExport
	} else if err != nil {
		return nil, err
	}
	field, err := d.Token()
	if err == nil && field == "meta" {
		var m exportMeta
		if err := d.Decode(&m); err != nil {
			return nil, fmt.Errorf("meta: %w", faultOf(err))
		}
		if m.Version > exportVersion {
			return nil, fmt.Errorf("format version %d is newer than this winnow supports (up to %d)", m.Version, exportVersion)
		}
		field, err = d.Token()
	}
	if err != nil || field != "pairs" {
		return nil, errNoExport
	}
	if err := decodePairs(d, f); err != nil {
		return nil, err
	}
	if d.More() {
		if field, err = d.Token(); err != nil || field != "sessions" {
			return nil, errNoExport
		}
		if err := d.Decode(&sessions); err != nil {
			return nil, fmt.Errorf("sessions: %w", faultOf(err))
		}
	}
	return sessions, faultOf(delim(d, '}'))
}

func decodePairs(d *json.Decoder, f func(*assistant.Pair) error) error {
	if err := delim(d, '['); err != nil {
		return err
	}
	for n := 0; d.More(); n++ {
		var raw json.RawMessage
		p := &assistant.Pair{Flag: true} // the default for new pairs
		err := d.Decode(&raw)
		if err == nil {
			err = history.DecodePair(raw, p)
		}
		if err == nil {
			err = history.CheckPair(p)
		}
		if err == nil {
			p.Seq = 0
			if p.ID == "" { // the file was written by hand; the same content always gets the same ID
				sum := sha256.Sum256(raw)
				p.ID = fmt.Sprintf("%x", sum[:16])
			}
			p.Interrupt()
			err = f(p)
		}
		if err != nil {
			return fmt.Errorf("message %d in the file: %w", n+1, faultOf(err))
		}
	}
	return faultOf(delim(d, ']'))
}

func delim(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err == nil && token != want {
		err = errNoExport
	}
	return err
}
