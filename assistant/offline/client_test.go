package offline

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A picture is not overlooked: nothing is done beside it.
func TestItSaysThatItCannotSeePictures(t *testing.T) {
	content := []any{map[string]any{"type": "text", "text": "hide mini"}, map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,AA=="}}}
	messages := []any{system(contextJSON(nil)), map[string]any{"role": "user", "content": content}}
	got := respond(request(t, messages, filterTools))
	wants(t, got.Text, "cannot see pictures", "not a language model", "`winnow config connect`")
	if len(got.Calls) > 0 || strings.Count(got.Text, "not a language model") != 1 {
		t.Errorf("it calls %v and says %s", got.Calls, got.Text)
	}
}

// send sends a request as a client does.
func send(t *testing.T, method, path string, body []byte) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, BaseURL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := Client(0).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

func TestAClientReachesTheModel(t *testing.T) {
	status, text := send(t, "GET", "/models", nil)
	if status != http.StatusOK || !strings.Contains(text, `"id":"rules"`) {
		t.Errorf("models: %d, %s", status, text)
	}
	request := body(t, []any{system(contextJSON(nil)), user("hide nano models")}, filterTools)
	status, text = send(t, "POST", "/chat/completions", request)
	if status != http.StatusOK || !strings.Contains(text, `"finish_reason":"tool_calls"`) {
		t.Errorf("a request is answered with %d: %s", status, text)
	}
	if _, again := send(t, "POST", "/chat/completions", request); again != text {
		t.Error("the same request gave another answer")
	}
}
