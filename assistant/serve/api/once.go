package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"winnow/assistant/serve"
)

const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
	maxKey         = 255 // characters
)

// once lets a client repeat a request whose response it did not receive. A request with an Idempotency-Key that has
// succeeded is not carried out again; its repetition gets the same response. A request that was refused did nothing, so
// it can be repeated with the same key.
func (s *Server) once(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := s.mux.Handler(r)
		key := r.Header.Get(keyHeader)
		if key == "" || !takesKey(pattern) {
			next.ServeHTTP(w, r)
			return
		}
		r.Pattern = pattern // used in the log
		if !validKey().MatchString(key) {
			text := fmt.Sprintf("expected 1 to %d visible ASCII characters", maxKey)
			p := newProblem("invalid", "header.%s: %s", keyHeader, text)
			p.Errors = []fieldError{{"header." + keyHeader, text}}
			refuse(w, p)
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.opts.Body))
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil || len(body) > maxBody { // the operation refuses this body
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}, r.Body))
			next.ServeHTTP(w, r)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		kept, p := s.kept.begin(clientOf(r.Context()).User, key, printOf(r, body))
		switch {
		case p != nil:
			s.metrics.Refused(serve.ServerHTTP, p.Code)
			refuse(w, p)
		case kept.Done:
			s.replay(w, r, kept)
		default:
			s.runFirst(w, r, next, kept)
		}
	})
}

// takesKey reports whether requests that match a pattern of the mux can have a key. Every POST under /v1 can, except
// the one whose response contains a token, because a token must not be stored.
func takesKey(pattern string) bool {
	return strings.HasPrefix(pattern, "POST /v1/") && pattern != "POST /v1/tokens"
}

// validKey matches a valid key.
var validKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(fmt.Sprintf(`^[!-~]{1,%d}$`, maxKey)) })

// printOf returns a fingerprint that identifies a request.
func printOf(r *http.Request, body []byte) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%s\n%s\n", r.URL.RequestURI(), r.Header.Get("If-Match"), body) // never fails
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// failing is a reader that always returns its error or, if the error is nil, reports the end of the input.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, cmp.Or(f.err, io.EOF) }

// attempt is the first request with a key.
type attempt struct {
	kept     *keptAnswer
	answers  *keptAnswers
	ctx      context.Context // the context of the request; the operation continues even if the client disconnects
	finished bool
}

// attemptKey is the context key of an attempt.
type attemptKey struct{}

// attemptOf returns the attempt of a request, or nil if it has no key.
func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// started records that the operation has started a turn, whose events follow the event with the number after.
func (a *attempt) started(session string, after int64) {
	if a != nil && !a.finished {
		a.finished = true
		a.kept.Session, a.kept.After = session, after
		a.answers.finish(a.kept)
	}
}

// runFirst carries out the first request with an Idempotency-Key. Its response is stored before the client receives it.
func (s *Server) runFirst(w http.ResponseWriter, r *http.Request, next http.Handler, kept *keptAnswer) {
	a := &attempt{kept: kept, answers: s.kept, ctx: r.Context()}
	out := &heldWriter{ResponseWriter: w, status: http.StatusOK}
	defer func() {
		if !a.finished {
			s.kept.interrupt(kept) // the operation has panicked or failed
		}
	}()
	carried := r.WithContext(context.WithValue(context.WithoutCancel(r.Context()), attemptKey{}, a))
	next.ServeHTTP(out, carried)
	switch {
	case a.finished, out.status == http.StatusInternalServerError:
	case out.status < http.StatusMultipleChoices:
		a.finished = true
		kept.Status, kept.Body, kept.Header = out.status, out.body.Bytes(), map[string]string{}
		for _, name := range []string{"Content-Type", "Location", "ETag"} {
			if value := w.Header().Get(name); value != "" {
				kept.Header[name] = value
			}
		}
		s.kept.finish(kept)
	default:
		a.finished = true
		s.kept.release(kept)
	}
	out.release()
}

// replay answers a repeated request: with the stored response to the first one or, if the first one started a turn, with
// the events of that turn.
func (s *Server) replay(w http.ResponseWriter, r *http.Request, kept *keptAnswer) {
	w.Header().Set(replayedHeader, "true")
	if kept.Session == "" {
		for name, value := range kept.Header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(kept.Status)
		_, _ = w.Write(kept.Body) // fails only if the client has disconnected
		return
	}
	st := s.find(kept.Session)
	if st == nil {
		refuse(w, newProblem("no_session", "the message was sent, but its session is no longer open: open it again and read its pairs"))
		return
	}
	follow, err := s.follow(r.Context(), st, kept.After, true)
	if err != nil {
		refuse(w, problemOf(err))
		return
	}
	follow(w, r)
}

// heldWriter holds a response back until it has been stored; it does not hold back a stream.
type heldWriter struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
	stream bool
}

// WriteHeader implements http.ResponseWriter.
func (w *heldWriter) WriteHeader(status int) {
	w.status = status
	if w.stream = w.Header().Get("Content-Type") == eventStream; w.stream {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write implements io.Writer.
func (w *heldWriter) Write(p []byte) (int, error) {
	if w.stream {
		return w.ResponseWriter.Write(p)
	}
	return w.body.Write(p)
}

// release writes the response.
func (w *heldWriter) release() {
	if !w.stream {
		w.ResponseWriter.WriteHeader(w.status)
		_, _ = w.ResponseWriter.Write(w.body.Bytes()) // fails only if the client has disconnected
	}
}

// Unwrap returns the wrapped response, for http.ResponseController.
func (w *heldWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// describeKey adds the header Idempotency-Key to the description of an operation that accepts it.
func describeKey(o *huma.Operation) {
	if !takesKey(o.Method + " " + o.Path) {
		return
	}
	most := maxKey
	o.Parameters = append(o.Parameters, &huma.Param{
		Name: keyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &most, Pattern: validKey().String()},
		Description: "a random value chosen by the client. A request that is repeated with the same key is not carried out again and gets the same response, with the header " + replayedHeader +
			". A stream begins again with the first event of its turn. A user's keys are stored for 24 hours, even if the server restarts, unless newer ones need the room: it keeps up to " +
			fmt.Sprint(maxKeys) + " keys and " + fmt.Sprint(maxKeyBytes>>20) + " MiB of responses",
	})
	codes, _ := o.Metadata[codesKey].([]string)
	o.Metadata[codesKey] = append(slices.Clone(codes), "key_reused", "key_in_use", "outcome_unknown")
}
