package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	at "winnow/assistant/assistanttest"
)

// parse returns a URL.
func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// try makes a request with headers, and returns the answer.
func (r *rig) try(method, path, host string, headers map[string]string) *http.Response {
	r.t.Helper()
	req := r.request(r.t.Context(), method, path, "")
	if host != "" {
		req.Host = host
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	r.must(err)
	_ = resp.Body.Close()
	return resp
}

func TestThePublicURLIsOwn(t *testing.T) {
	r := newRig(t, at.NewScript(), func(o *Options) { o.PublicURL = parse(t, "https://winnow.example") })
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"winnow.example", "", 200},
		{"WINNOW.example", "https://winnow.example", 200},
		{"winnow.example:8080", "", 421},
		{"evil.example", "", 421},
		{"winnow.example", "http://winnow.example", 403},
		{"winnow.example", "https://evil.example", 403},
		{"", "", 200},
	} {
		headers := map[string]string{}
		if c.origin != "" {
			headers["Origin"] = c.origin
		}
		if got := r.try("GET", "/v1/window", c.host, headers).StatusCode; got != c.status {
			t.Errorf("host %q, origin %q: %d, want %d", c.host, c.origin, got, c.status)
		}
	}
	if document, err := r.server.document(); err != nil || !strings.Contains(string(document), `"url": "https://winnow.example"`) {
		t.Error("the document does not name the public address")
	}
}

func TestOnlyATrustedProxyNamesTheClient(t *testing.T) {
	s := &Server{opts: Options{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}}}
	for _, c := range []struct{ peer, forwarded, want string }{
		{"192.0.2.1:5", "198.51.100.7", "192.0.2.1:5"}, // not a proxy: it may write anything
		{"10.1.2.3:5", "198.51.100.7", "198.51.100.7"},
		{"10.1.2.3:5", "203.0.113.9, 198.51.100.7", "198.51.100.7"}, // the client wrote the first one
		{"10.1.2.3:5", "198.51.100.7, 10.9.9.9", "198.51.100.7"},    // two proxies
		{"[::1]:5", "2001:db8::7", "2001:db8::7"},
		{"[::ffff:10.1.2.3]:5", "198.51.100.7", "198.51.100.7"},
		{"10.1.2.3:5", "nonsense", "10.1.2.3:5"},
		{"10.1.2.3:5", "", "10.1.2.3:5"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": {c.forwarded}}}
		if got := s.remote(r); got != c.want {
			t.Errorf("from %s, forwarded for %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}

func TestWithoutTLSOnlyTrustedProxiesConnect(t *testing.T) {
	for name, trusted := range map[string]bool{"a proxy": true, "another host": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, at.NewScript(), func(o *Options) {
				_, port, _ := net.SplitHostPort(o.Address)
				o.Address, o.PublicURL = net.JoinHostPort("0.0.0.0", port), parse(t, "https://winnow.example")
				if o.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}; trusted {
					o.Proxies = append(o.Proxies, netip.MustParsePrefix("127.0.0.1/32"))
				}
			})
			req := r.request(t.Context(), "GET", "/v1/window", "")
			req.Host = "winnow.example"
			req.Header.Set("X-Forwarded-For", "198.51.100.7")
			resp, err := http.DefaultClient.Do(req)
			if (err == nil) != trusted {
				t.Fatalf("the request: %v", err)
			}
			if err == nil {
				_ = resp.Body.Close()
				r.wait("the log names the client", func() bool { return strings.Contains(r.log.String(), "remote=198.51.100.7") })
			} else if !strings.Contains(r.log.String(), "not from a trusted proxy") {
				t.Errorf("the log: %s", r.log)
			}
		})
	}
}

func TestOnlyNamedPagesUseTheServer(t *testing.T) {
	r := newRig(t, at.NewScript(), func(o *Options) { o.Origins = []*url.URL{parse(t, "https://tools.example")} })
	named, other := map[string]string{"Origin": "https://tools.example"}, map[string]string{"Origin": "https://evil.example"}
	resp := r.try("GET", "/v1/window", "", named)
	if resp.StatusCode != 200 || resp.Header.Get("Access-Control-Allow-Origin") != "https://tools.example" || resp.Header.Get("Vary") != "Origin" {
		t.Errorf("a named page: %d %v", resp.StatusCode, resp.Header)
	}
	if resp := r.try("GET", "/v1/window", "", other); resp.StatusCode != 403 || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another page: %d %v", resp.StatusCode, resp.Header)
	}
	for page, want := range map[string]int{"https://tools.example": 204, "https://evil.example": 403, "http://tools.example": 403} {
		resp := r.try("OPTIONS", "/v1/sessions", "", map[string]string{"Origin": page, "Access-Control-Request-Method": "POST", "Authorization": ""})
		if resp.StatusCode != want || (resp.Header.Get("Access-Control-Allow-Headers") != "") != (want == 204) {
			t.Errorf("a question for %s: %d %v", page, resp.StatusCode, resp.Header)
		}
	}
	if resp := r.try("GET", "/v1/window", "evil.example", named); resp.StatusCode != 421 {
		t.Errorf("a named page at another host: %d", resp.StatusCode)
	}
}
