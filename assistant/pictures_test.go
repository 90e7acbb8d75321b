package assistant_test

import (
	"context"
	"encoding/base64"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	stored "winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
)

// pictureRig is a rig on a database, which has the pictures apart from the pairs.
func pictureRig(t *testing.T, script *at.Script) (*rig, stored.Store) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h", "history.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return newRig(t, script, func(o *assistant.Options) { o.Store = s }), s
}

// newest is the newest pair, as it is stored.
func newest(t *testing.T, s stored.Store) assistant.Pair {
	t.Helper()
	refs, err := s.Refs(t.Context(), "", 3.5)
	if err != nil || len(refs) == 0 {
		t.Fatal(len(refs), err)
	}
	pairs, err := s.Load(t.Context(), []int64{refs[len(refs)-1].Seq})
	if err != nil {
		t.Fatal(err)
	}
	return pairs[0]
}

// wantPictures holds the pictures of each user message of a request, with their bytes,
// against one string each.
func wantPictures(t *testing.T, req llm.Request, want ...string) {
	t.Helper()
	var got []string
	for _, m := range req.Messages {
		if m.Role != llm.RoleUser {
			continue
		}
		var names []string
		for _, f := range m.Pictures {
			if f.Check() != nil || f.Data == nil {
				t.Errorf("%s has %d bytes", f.Name, len(f.Data))
			}
			names = append(names, f.Name)
		}
		got = append(got, strings.Join(names, " "))
	}
	wantList(t, "pictures", got, want...)
}

// Pictures go with each request that has their pair, also after a restart, a retry and
// when the answer is regenerated; the pairs and the requests that are stored are without
// their bytes.
func TestPicturesGoWithTheirPair(t *testing.T) {
	r, s := pictureRig(t, at.NewScript(
		at.Answer{at.Say("half"), at.Cut{}}, at.Answer{at.Say("a cat")}, at.Answer{at.Say("grey")},
		at.Answer{at.Say("white")}, at.Answer{at.Say("none")},
	))
	a, b := historytest.Picture(t, "a.png", 8), historytest.Picture(t, "b.png", 1025)
	wantError(t, r.turn(assistant.Prompt{Text: "see @a.png @b.png", Attachments: []assistant.Attachment{a, b}}), assistant.CodeInterrupted)
	failed := newest(t, s)
	if len(failed.Attachments) != 2 || failed.Attachments[0].Data != nil {
		t.Fatalf("stored %+v", failed.Attachments)
	}
	again := assistant.Prompt{Text: string(failed.UserText), Attachments: failed.Attachments}
	again.Retry = failed.Seq
	end[assistant.Complete](t, r.turn(again))
	r.open() // as after a restart
	end[assistant.Complete](t, r.turn(assistant.Prompt{Text: "which colour?"}))
	old := newest(t, s)
	end[assistant.Complete](t, r.turn(assistant.Prompt{Text: "which colour? like @a.png", Attachments: failed.Attachments[:1], Replaces: old.Seq}))
	asked := r.script.Requests()
	wantPictures(t, asked[0], "a.png b.png")
	wantPictures(t, asked[1], "a.png b.png")
	wantPictures(t, asked[2], "a.png b.png", "")
	wantPictures(t, asked[3], "a.png b.png", "a.png")

	sent, err := r.session.SentRequests(context.Background(), newest(t, s).Seq)
	if err != nil || len(sent) != 1 {
		t.Fatal(len(sent), err)
	}
	body := string(sent[0].Body)
	if strings.Contains(body, base64.StdEncoding.EncodeToString(b.Data)[:60]) || strings.Count(body, b.Hash) != 1 || len(body) > 20_000 {
		t.Errorf("the stored request is %.3000s", body)
	}
	refs := r.session.Visible()
	r.must(r.session.Delete(context.Background(), refs[len(refs)-1].Seq, refs[0].Seq))
	if _, err := s.Picture(t.Context(), a.Hash); !errors.Is(err, stored.ErrPicture) {
		t.Errorf("the picture of deleted pairs: %v", err)
	}
}

// The tokens of pictures are in the estimate of a draft, in the record of the attempt and
// in the boundary.
func TestPicturesAreCounted(t *testing.T) {
	r, _ := pictureRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	p := assistant.Prompt{Text: "see @a.png", Attachments: []assistant.Attachment{historytest.Picture(t, "a.png", 1025)}}
	wantEqual(t, "draft", r.session.Draft(p).AUT, 3+765)
	end[assistant.Complete](t, r.turn(p))
	wantEqual(t, "AUT", r.records[0].AUT, 3+765)
	wantEqual(t, "boundary", r.session.Boundary().HistoryTokens, 3+765+1)
	r.must(r.session.SetModel("test/small"))
	wantEqual(t, "of a model of 300 tokens", r.session.Boundary().X, 0)
}

// A model that is known not to see pictures is sent none: the message is refused, and of
// earlier ones it is told by name.
func TestAModelWithoutEyes(t *testing.T) {
	r, s := pictureRig(t, at.NewScript(at.Answer{at.Say("a cat")}, at.Answer{at.Say("ok")}))
	pictures := []assistant.Attachment{historytest.Picture(t, "a.png", 8)}
	end[assistant.Complete](t, r.turn(assistant.Prompt{Text: "see @a.png", Attachments: pictures}))
	r.session.Registry().Learn(llm.ModelInfo{ID: "test/script", Tools: true, Vision: llm.Unable})
	if _, err := at.Send(context.Background(), r.session, assistant.Prompt{Text: "and @a.png", Attachments: pictures}); !errors.Is(err, llm.ErrNoVision) || !strings.Contains(err.Error(), "test/script") {
		t.Errorf("sent to a model without eyes: %v", err)
	}
	end[assistant.Complete](t, r.turn(assistant.Prompt{Text: "thanks", Attachments: []assistant.Attachment{{Name: "a.txt", Type: "text/plain"}}}))
	asked := r.script.Requests()
	wantPictures(t, asked[1], "", "")
	if text := asked[1].Messages[1].Content; !strings.Contains(text, "[The picture a.png is not sent: this model cannot see pictures.]") {
		t.Errorf("it is told %q", text)
	}
	if newest(t, s).UserText != "thanks" {
		t.Error("the refused message was stored")
	}
}
