package openai

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Limits on how much of a body is buffered.
const (
	maxEvent = 32 << 20 // one event, or a JSON document
	maxName  = 1 << 10  // a line without data, such as an event name or a comment
	maxPage  = 16 << 10 // a web page, from which only the title is read
)

var (
	errEventTooLong = errors.New("an event of the answer is longer than 32 MiB")
	errPage         = errors.New("a web page")
	errStop         = errors.New("stopped") // yield returned false
)

var byteOrderMark = []byte("\ufeff")

// frame is one event of a body: a server-sent event, or one JSON document.
type frame struct {
	event string // name of the server-sent event; "" if none
	data  []byte // valid until the next frame
}

// framing is how a body is divided into frames.
type framing uint8

const (
	unknownFraming framing = iota // only white space so far
	sseFraming
	jsonFraming // one JSON document, or JSON lines
	htmlFraming
)

// frames divides a body into frames. They do not depend on where the body is split into
// pieces. The zero value is ready to use and detects the framing from the first line.
type frames struct {
	framing  framing
	line     []byte // an incomplete line
	cr       bool   // the last byte was CR; an LF that follows belongs to the same line ending
	event    string // SSE: name of the current event
	data     []byte // SSE: data of the current event so far, each line with its LF
	empty    int    // SSE: number of events with empty data
	badField bool   // SSE: a line has an unknown field, so the line is the rest of a damaged one
}

// write adds the next piece and calls yield with each complete frame. It stops when yield
// returns false.
func (f *frames) write(b []byte, yield func(frame) bool) error {
	for {
		line, rest, hasLF := bytes.Cut(b, []byte("\n"))
		for {
			before, after, hasCR := bytes.Cut(line, []byte("\r"))
			if !hasCR {
				break
			}
			if err := f.endLine(before, yield); err != nil {
				return err
			}
			f.cr, line = true, after
		}
		if len(line) > 0 {
			f.cr = false
		}
		if !hasLF {
			return f.extend(line)
		}
		if !f.cr {
			if err := f.endLine(line, yield); err != nil {
				return err
			}
		}
		f.cr, b = false, rest
	}
}

// end handles the end of the body, where the last event may lack its line endings.
func (f *frames) end(yield func(frame) bool) error {
	if err := f.endLine(nil, yield); err != nil || f.framing == unknownFraming || f.framing == htmlFraming {
		return err
	}
	if f.framing == sseFraming {
		return f.dispatch(yield)
	}
	return f.yieldData(yield)
}

// extend adds b to the incomplete line. It keeps only the beginning of a line without data.
func (f *frames) extend(b []byte) error {
	f.line = append(f.line, b...)
	if len(f.line) > maxName && f.framing <= sseFraming {
		start := bytes.TrimLeft(bytes.TrimPrefix(f.line, byteOrderMark), " \t")
		switch {
		case bytes.HasPrefix(start, []byte("<")) && len(f.line) > maxPage:
			f.framing, f.data = htmlFraming, f.line
			return errPage
		case len(start) == 0 || bytes.IndexByte([]byte("{[<"), start[0]) < 0 && !bytes.HasPrefix(start, []byte("data")):
			f.line = f.line[:maxName]
		}
	}
	if len(f.line)+len(f.data) > maxEvent {
		return errEventTooLong
	}
	return nil
}

func (f *frames) endLine(tail []byte, yield func(frame) bool) error {
	line := tail
	if len(f.line) > 0 {
		if err := f.extend(tail); err != nil {
			return err
		}
		line = f.line
		defer func() { f.line = reuse(f.line) }()
	}
	if f.framing == unknownFraming {
		line = bytes.TrimPrefix(line, byteOrderMark)
		f.framing = detect(line)
	}
	if len(f.data)+len(line) > maxEvent {
		return errEventTooLong
	}
	switch f.framing {
	case sseFraming:
		if len(line) == 0 {
			return f.dispatch(yield)
		}
		f.field(line)
	case jsonFraming:
		return f.document(line, yield)
	case htmlFraming:
		if f.data = append(f.data, line[:min(len(line), maxPage)]...); len(f.data) >= maxPage {
			return errPage
		}
	case unknownFraming:
	}
	return nil
}

func detect(line []byte) framing {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return unknownFraming
	case line[0] == '{' || line[0] == '[':
		return jsonFraming
	case line[0] == '<':
		return htmlFraming
	}
	return sseFraming
}

// field handles one line of a server-sent event.
func (f *frames) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		f.data = append(append(f.data, value...), '\n')
	case "event":
		f.event = string(value[:min(len(value), maxName)])
	case "id", "retry":
	case "": // the line is a comment, unless it is the rest of a data line
		f.badField = f.badField || bytes.ContainsAny(value, `"{}`)
	default:
		f.badField = true
	}
}

// dispatch yields the complete server-sent event. An event without data is dropped.
func (f *frames) dispatch(yield func(frame) bool) error {
	if len(f.data) > 0 && len(bytes.TrimSpace(f.data)) == 0 {
		f.empty++
	}
	err := f.yieldData(yield)
	f.event = ""
	return err
}

// document handles a line of JSON: a complete document or, if the line is incomplete JSON,
// part of one document that ends with the body.
func (f *frames) document(line []byte, yield func(frame) bool) error {
	whole := len(f.data) == 0 && (json.Valid(line) || string(line) == "[DONE]")
	f.data = append(append(f.data, line...), '\n')
	if whole {
		return f.yieldData(yield)
	}
	return nil
}

func (f *frames) yieldData(yield func(frame) bool) error {
	data := bytes.TrimSpace(f.data)
	f.data = reuse(f.data)
	if len(data) > 0 && !yield(frame{f.event, data}) {
		return errStop
	}
	return nil
}

// maxReused is the largest buffer that is reused. It is enough for any token; the buffer of
// a huge event is freed.
const maxReused = 64 << 10

func reuse(b []byte) []byte {
	if cap(b) > maxReused {
		return nil
	}
	return b[:0]
}
