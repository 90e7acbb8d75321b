package history

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"winnow/assistant"
)

// ImportOptions configures Import. The zero value is ready to use.
type ImportOptions struct {
	// Session gets the pairs of a MessageList, which names none; "" makes an
	// id from the list, the same for the same list.
	Session  string
	Progress func(done int) // called now and then; nil is not called
}

// ImportReport counts what Import did.
type ImportReport struct {
	Added int
	Known int // skipped: a pair with this id is there, maybe changed since
}

// importAtOnce is how many pairs make one transaction of an import.
const importAtOnce = 1000

// Import reads what Export wrote as JSON, or a serialised assistant.MessageList,
// and appends the pairs to the stream in their order. Pairs whose id is known are
// skipped, so that an import can be repeated: after an error, with the pairs
// before it in the store, too. A pair that was exported while it was sent comes
// in as interrupted.
func Import(ctx context.Context, s Store, r io.Reader, o ImportOptions) (ImportReport, error) {
	in := &importer{ctx: ctx, s: s, options: o, decoder: json.NewDecoder(r)}
	if err := in.document(); err != nil {
		return in.report, fmt.Errorf("history: import: %w", err)
	}
	return in.report, nil
}

type importer struct {
	ctx     context.Context
	s       Store
	options ImportOptions
	decoder *json.Decoder
	report  ImportReport
	batch   []*assistant.Pair
}

// document reads the top object, whose fields may come in any order.
func (in *importer) document() error {
	if err := in.delim('{'); errors.Is(err, io.EOF) {
		return errors.New("there is nothing in it")
	} else if err != nil {
		return err
	}
	list := map[string]json.RawMessage{}
	pairs := false
	for in.decoder.More() {
		token, err := in.decoder.Token()
		if err != nil {
			return err
		}
		switch field, _ := token.(string); field {
		case "meta":
			var m exportMeta
			if err = in.decoder.Decode(&m); err == nil && m.Version > exportVersion {
				err = fmt.Errorf("version %d of the form is newer than this winnow, which reads up to %d", m.Version, exportVersion)
			}
		case "pairs":
			pairs = true
			err = in.pairs()
		case "messages", "version":
			var raw json.RawMessage
			err = in.decoder.Decode(&raw)
			list[field] = raw
		default:
			err = fmt.Errorf("unknown field %q: neither an export of winnow nor a list of messages", field)
		}
		if err != nil {
			return err
		}
	}
	if err := in.delim('}'); err != nil {
		return err
	}
	switch {
	case pairs == (len(list) > 0):
		return errors.New("want either pairs or messages")
	case pairs:
		return in.flush()
	default:
		return in.messages(list)
	}
}

func (in *importer) delim(want json.Delim) error {
	token, err := in.decoder.Token()
	if err == nil && token != want {
		err = fmt.Errorf("found %v at byte %d, want %v", token, in.decoder.InputOffset(), want)
	}
	return err
}

func (in *importer) pairs() error {
	if err := in.delim('['); err != nil {
		return err
	}
	for n := 0; in.decoder.More(); n++ {
		var raw json.RawMessage
		p := &assistant.Pair{Flag: true} // the default of new pairs
		err := in.decoder.Decode(&raw)
		if err == nil {
			err = decodePair(raw, p)
		}
		if err == nil {
			p.Seq = 0
			if p.ID == "" {
				p.ID = contentID(raw)
			}
			endInterrupted(p)
			err = in.add(p)
		}
		if err != nil {
			return fmt.Errorf("pair %d: %w", n, err)
		}
	}
	return in.delim(']')
}

func (in *importer) add(p *assistant.Pair) error {
	if err := checkPair(p); err != nil {
		return err
	}
	if in.batch = append(in.batch, p); len(in.batch) < importAtOnce {
		return nil
	}
	return in.flush()
}

// flush writes the batch, but for pairs that are known.
func (in *importer) flush() error {
	added, err := in.s.Append(in.ctx, in.batch)
	if err != nil {
		return err
	}
	in.report.Added += added
	in.report.Known += len(in.batch) - added
	in.batch = nil
	if in.options.Progress != nil {
		in.options.Progress(in.report.Added + in.report.Known)
	}
	return nil
}

// idEncoding is that of assistant.NewID.
var idEncoding = base32.HexEncoding.WithPadding(base32.NoPadding)

// contentID makes an id of a content, the same for the same content.
func contentID(content []byte) string {
	sum := sha256.Sum256(content)
	return strings.ToLower(idEncoding.EncodeToString(sum[:16]))
}

// messages makes pairs of a list: each message of the user begins one.
func (in *importer) messages(fields map[string]json.RawMessage) error {
	raw, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	var list assistant.MessageList
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	session := in.options.Session
	if session == "" {
		session = "import-" + contentID(raw)
	}
	for i, p := range pairsOf(&list) {
		p.ID = contentID(fmt.Appendf(nil, "%s %d %s", session, i, raw))
		p.Session, p.CreatedAt = session, time.Now()
		if err := in.add(p); err != nil {
			return err
		}
	}
	return in.flush()
}

// pairsOf groups the messages of a list into pairs. What the assistant said
// before any user makes a pair without a user's text.
func pairsOf(list *assistant.MessageList) []*assistant.Pair {
	var pairs []*assistant.Pair
	begin := func(text string) {
		pairs = append(pairs, &assistant.Pair{UserText: text, Flag: true, State: assistant.PairComplete})
	}
	inCalls := false // the message before was a call
	for _, m := range list.All() {
		text, isText := m.(*assistant.TextMessage)
		call, isCall := m.(*assistant.ToolCallMessage)
		switch {
		case isText && text.Role == assistant.RoleUser:
			begin(text.Text)
		case (isText || isCall) && len(pairs) == 0:
			begin("")
		}
		switch {
		case isText && text.Role != assistant.RoleUser:
			pairs[len(pairs)-1].AssistantText += plainAnswer(text.Text)
		case isCall:
			addCall(pairs[len(pairs)-1], call, inCalls && call.Message == "")
		}
		if isText || isCall {
			inCalls = isCall
		}
	}
	return pairs
}

// addCall adds a call to a pair. A joined one is of the same response as the one
// before. Its result is as winnow writes it, or any JSON as its data.
func addCall(p *assistant.Pair, m *assistant.ToolCallMessage, joined bool) {
	n := len(p.ToolCalls)
	c := assistant.ToolCall{ID: m.ToolCallID, Name: m.ToolName, Arguments: m.Arguments}
	if n > 0 {
		c.Response = p.ToolCalls[n-1].Response
		if !joined {
			c.Response++
		}
	}
	ours, err := decodeResult(m.Result)
	switch {
	case err == nil && ours != nil && (ours.Message != "" || ours.Success):
		c.Result = ours
	case m.Error != nil:
		c.Result = &assistant.ToolResult{Message: *m.Error, ErrorCode: assistant.CodeFailed}
	case m.Result != nil:
		c.Result = &assistant.ToolResult{Success: true}
	}
	if c.Result != nil && c.Result != ours && m.Result != nil {
		c.Result.Data = m.Result
	}
	p.ToolCalls = append(p.ToolCalls, c)
	p.AssistantText += plainAnswer(m.Message) + fmt.Sprintf("[[tool:%d]]", n)
}

// plainAnswer escapes what only looks like the marker of a call.
func plainAnswer(text string) string { return strings.ReplaceAll(text, "[[tool:", `\[[tool:`) }
