package checkpoint

import (
	"bytes"
	"fmt"
)

// scanned is what the bytes of a journal hold.
type scanned struct {
	records []record
	lines   []line // beside records; op and sum are set by the ledger
	end     int64  // of the last whole record, its LF included
	torn    int64  // bytes behind end that are the start of a record
	bad     int    // lines that are neither
	badEnd  bool   // no record follows the last of these
	fresh   bool   // nothing there, not even a whole header
	open    bool   // the last record is whole but for its LF
}

// damaged reports whether more is wrong than a write cut short.
func (s *scanned) damaged() bool { return s.bad > 0 }

// scan reads all of a journal but the payloads. Only a newer format is an
// error; what cannot be read is counted.
func (s *scanned) scan(content []byte, path string) error {
	head := header(formatVersion)
	if bytes.HasPrefix(head, content) && len(content) < len(head) {
		s.fresh, s.torn = true, int64(len(content))
		return nil
	}
	var rest []byte
	if first, after, ok := bytes.Cut(content, []byte("\n")); ok {
		version, ok := headerVersion(first)
		switch {
		case ok && version > formatVersion:
			return &VersionError{Path: path, Found: version, Known: formatVersion}
		case !ok:
			s.bad, s.badEnd = 1, true
		}
		rest = after
	} else {
		s.bad, s.badEnd = 1, true
	}
	s.end = int64(len(content) - len(rest))
	var prev int64
	for len(rest) > 0 {
		text, after, whole := bytes.Cut(rest, []byte("\n"))
		r, kind, _, err := readLine(text)
		switch {
		case err == nil:
			if r.Prev != prev {
				s.bad++ // a line is gone without a trace
			}
			s.open = !whole
		case whole:
			s.bad, s.badEnd = s.bad+1, true
		default:
			// The end without LF: a write cut short, or all of a record with
			// its LF changed into something else.
			cut := len(text) - 1
			if r, kind, _, err = readLine(text[:cut]); err != nil {
				s.torn = int64(len(text))
				return nil //nolint:nilerr // counted in torn: a crash leaves such an end
			}
			s.bad++
			text = text[:cut]
		}
		offset := int64(len(content) - len(rest))
		if err == nil {
			s.records = append(s.records, r)
			s.lines = append(s.lines, line{offset: offset, length: len(text), kind: kind})
			prev, s.badEnd = r.Seq, false
		}
		s.end = int64(len(content) - len(after))
		rest = after
	}
	return nil
}

// replay makes the ledger of what was scanned.
func (s *scanned) replay() *ledger {
	l := newLedger()
	for i := range s.records {
		l.apply(&s.records[i], s.lines[i])
	}
	return l
}

// payload reads line at again and returns its payload.
func (l *ledger) payload(src readerAt, at int) (payloadKind, []byte, error) {
	where := l.lines[at]
	text := make([]byte, where.length)
	if n, err := src.ReadAt(text, where.offset); n < len(text) {
		return 0, nil, fmt.Errorf("%w: record %d: %w", ErrDamaged, at, err)
	}
	_, kind, payload, err := readLine(text)
	if err != nil || kind != where.kind {
		return 0, nil, fmt.Errorf("%w: record %d", ErrDamaged, at)
	}
	return kind, payload, nil
}

// readerAt is where the bytes of a journal are read from.
type readerAt interface {
	ReadAt(p []byte, offset int64) (int, error)
}

// advance applies the payload of one record to the state before it.
func advance(before value, kind payloadKind, payload []byte) (value, error) {
	switch kind {
	case payloadFull:
		return parse(payload)
	case payloadDelta:
		return applyText(before, payload)
	case payloadNone, payloadSide:
	}
	return before, nil
}

// stateAt makes the state after line at again: from the nearest full state
// forward, and checked against the sum.
func (l *ledger) stateAt(src readerAt, at int) (value, error) {
	if at < 0 || l.lines[at].sum == "" {
		return value{}, fmt.Errorf("%w: no state at record %d", ErrDamaged, at)
	}
	from := at
	for from > 0 && l.lines[from].kind != payloadFull {
		from--
	}
	var state value
	for i := from; i <= at; i++ {
		if k := l.lines[i].kind; k != payloadFull && k != payloadDelta {
			continue
		}
		kind, payload, err := l.payload(src, i)
		if err != nil {
			return value{}, err
		}
		if state, err = advance(state, kind, payload); err != nil {
			return value{}, fmt.Errorf("%w: record %d: %w", ErrDamaged, i, err)
		}
	}
	if stateSum(state) != l.lines[at].sum {
		return value{}, fmt.Errorf("%w: state at record %d is another", ErrDamaged, at)
	}
	return state, nil
}
