package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxCalls is the maximum number of calls from a client that are waiting for answers.
	maxCalls = 1000
	// maxUnread is the maximum size, in bytes, of answers that a client has not read.
	maxUnread = 32 << 20
	// flushTime is how long the client may take to read the last answers.
	flushTime = 2 * time.Second
)

var errUnread = errors.New("the agent is not reading its answers")

// lines is both a transport and its only connection, with one JSON-RPC message per line. It answers an invalid line
// with an error and continues, whereas the SDK's transport would end the connection. Write never waits for the client,
// because a call that reports its progress may hold the window's lock.
type lines struct {
	in       io.Reader
	out      io.Writer
	incoming chan line
	closed   chan struct{} // closed by Close
	flushed  chan struct{} // closed when everything has been written, or nothing more can be written
	wake     chan struct{} // contains a value if unwritten or ended has changed

	mu        sync.Mutex
	unwritten []byte
	calls     map[jsonrpc.ID]bool // calls that have been read but not answered
	ended     bool                // Close was called or a write failed
	writeErr  error
}

// line is the result of reading a line: its text, or the reason why there is no text.
type line struct {
	text    []byte
	tooLong bool
	err     error
}

func newLines(in io.Reader, out io.Writer) *lines {
	return &lines{
		in: in, out: out, incoming: make(chan line), closed: make(chan struct{}), flushed: make(chan struct{}),
		wake: make(chan struct{}, 1), calls: map[jsonrpc.ID]bool{},
	}
}

// Connect implements sdk.Transport. It may be called only once.
func (l *lines) Connect(context.Context) (sdk.Connection, error) {
	go l.readLines()
	go l.writeAll()
	return l, nil
}

// SessionID implements sdk.Connection.
func (l *lines) SessionID() string { return "" }

// Close implements sdk.Connection.
func (l *lines) Close() error {
	l.end(nil)
	return nil
}

// end ends the connection; err is the reason, or nil. Pending output is still written.
func (l *lines) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writeErr == nil {
		l.writeErr = err
	}
	if !l.ended {
		l.ended = true
		close(l.closed)
	}
	l.awake()
}

// awake wakes writeAll. The caller holds l.mu.
func (l *lines) awake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// flush waits until all answers have been written, but for at most flushTime. It returns the error that ended writing.
func (l *lines) flush() error {
	select {
	case <-l.flushed:
	case <-time.After(flushTime):
		return errUnread
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writeErr
}

// readLines reads until the input ends. If the connection is closed earlier, the goroutine keeps waiting, because
// reading standard input cannot be interrupted.
func (l *lines) readLines() {
	r := bufio.NewReaderSize(l.in, 64<<10)
	for {
		next := readLine(r)
		select {
		case l.incoming <- next:
		case <-l.closed:
			return
		}
		if next.err != nil {
			return
		}
	}
}

// readLine reads a line. The text of a line that is too long is skipped and not stored.
func readLine(r *bufio.Reader) (next line) {
	for {
		piece, err := r.ReadSlice('\n')
		if next.tooLong = next.tooLong || len(next.text)+len(piece) > MaxMessage; next.tooLong {
			next.text = nil
		} else {
			next.text = append(next.text, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (next.tooLong || len(bytes.TrimSpace(next.text)) > 0): // the last line need not end with a line break
		default:
			next.err = err
		}
		return next
	}
}

// Read implements sdk.Connection.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.closed:
			return nil, io.EOF
		case next := <-l.incoming:
			if next.err != nil {
				return nil, next.err
			}
			msg, refused := l.decode(next)
			if refused != nil {
				_ = l.write(refused) // fails only if the connection has ended; l.closed is then closed too
			} else if msg != nil {
				return msg, nil
			}
		}
	}
}

// decode decodes a line. It returns a message, or an answer that refuses the line, or neither for an empty line.
func (l *lines) decode(next line) (msg jsonrpc.Message, refused []byte) {
	if next.tooLong {
		return nil, refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", MaxMessage))
	}
	text := bytes.TrimSpace(next.text)
	if len(text) == 0 {
		return nil, nil
	}
	if !json.Valid(text) {
		return nil, refuse(nil, jsonrpc.CodeParseError, "the line is not valid JSON; each message must be on one line")
	}
	if text[0] == '[' {
		return nil, refuse(nil, jsonrpc.CodeInvalidRequest, "batches are not supported: send one message per line")
	}
	id, problem := requestID(text)
	if problem != "" {
		return nil, refuse(nil, jsonrpc.CodeInvalidRequest, problem)
	}
	msg, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, refuse(id, jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message")
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		if problem := l.begin(req.ID); problem != "" {
			return nil, refuse(id, jsonrpc.CodeInvalidRequest, problem)
		}
	}
	return msg, nil
}

// begin adds a call to the calls that are waiting for answers, or returns the reason why the call is refused.
func (l *lines) begin(id jsonrpc.ID) (problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.calls[id]:
		return "another call with this id has not been answered yet"
	case len(l.calls) == maxCalls:
		return fmt.Sprintf("%d calls are already waiting for answers", maxCalls)
	}
	l.calls[id] = true
	return ""
}

// requestID returns the id of a message exactly as it was written, or nil if the message has none. The answer repeats
// the id, so it must be a string or a number that can be preserved exactly.
func requestID(text []byte) (id json.RawMessage, problem string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return nil, "the line is not a JSON-RPC 2.0 message"
	}
	id, has := fields["id"]
	if !has {
		return nil, ""
	}
	const maxExact = 1 << 53 // the limit of float64, to which the SDK decodes ids
	var value any
	_ = json.Unmarshal(id, &value) // after an error, value is nil
	switch v := value.(type) {
	case string:
		return id, ""
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= maxExact {
			return id, ""
		}
	}
	return nil, "the id is neither a string nor an integer of at most 53 bits"
}

// refuse returns the answer that refuses a line; a nil id becomes null.
func refuse(id json.RawMessage, code int64, message string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	text, _ := json.Marshal(struct { // cannot fail, because id was decoded
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: code, Message: message}})
	return append(text, '\n')
}

// Write implements sdk.Connection.
func (l *lines) Write(_ context.Context, msg jsonrpc.Message) error {
	text, err := encode(msg)
	if err != nil {
		return err
	}
	if res, ok := msg.(*jsonrpc.Response); ok {
		l.mu.Lock()
		delete(l.calls, res.ID)
		l.mu.Unlock()
	}
	return l.write(append(text, '\n'))
}

// encode encodes a message. If the SDK has put text from the client into the data of an error in a form that is not
// valid JSON, encode omits the data.
func encode(msg jsonrpc.Message) ([]byte, error) {
	text, err := jsonrpc.EncodeMessage(msg)
	res, ok := msg.(*jsonrpc.Response)
	if err == nil || !ok {
		return text, err
	}
	plain := jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the answer could not be encoded"}
	if failed, ok := errors.AsType[*jsonrpc.Error](res.Error); ok {
		plain.Code, plain.Message = failed.Code, failed.Message
	}
	return jsonrpc.EncodeMessage(&jsonrpc.Response{ID: res.ID, Error: &plain})
}

// write queues text for writeAll. If the client leaves too much text unread, write ends the connection.
func (l *lines) write(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ended:
		return io.ErrClosedPipe
	case len(l.unwritten)+len(text) > maxUnread:
		l.unwritten, l.ended, l.writeErr = nil, true, errUnread
		close(l.closed)
		l.awake()
		return errUnread
	}
	l.unwritten = append(l.unwritten, text...)
	l.awake()
	return nil
}

// writeAll writes until the connection has ended and everything has been written.
func (l *lines) writeAll() {
	defer close(l.flushed)
	for range l.wake {
		l.mu.Lock()
		text, ended := l.unwritten, l.ended
		l.unwritten = nil
		l.mu.Unlock()
		if len(text) > 0 {
			if _, err := l.out.Write(text); err != nil {
				l.end(err)
				return
			}
			l.mu.Lock()
			l.awake() // there may be more text, or the connection may have ended
			l.mu.Unlock()
			continue
		}
		if ended {
			return
		}
	}
}
