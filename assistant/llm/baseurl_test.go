package llm

import (
	"net/netip"
	"strings"
	"testing"
)

func TestCheckBaseURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://api.openai.com/v1":      "https://api.openai.com/v1",
		"HTTPS://API.OpenAI.com/v1///":   "https://api.openai.com/v1",
		" https://example.com ":          "https://example.com",
		"http://localhost:11434/v1/":     "http://localhost:11434/v1",
		"http://127.0.0.1:8000/v1":       "http://127.0.0.1:8000/v1",
		"http://127.9.9.9":               "http://127.9.9.9",
		"http://[::1]:8080":              "http://[::1]:8080",
		"http://api.localhost":           "http://api.localhost",
		"https://192.168.1.4/openai/api": "https://192.168.1.4/openai/api",
	} {
		if u, err := CheckBaseURL(raw, false); err != nil || u.String() != want {
			t.Errorf("CheckBaseURL(%q) = %v, %v; want %s", raw, u, err, want)
		}
	}
	for raw, why := range map[string]string{
		"":                                     "empty",
		"api.openai.com/v1":                    "https://",
		"http://api.openai.com/v1":             "unencrypted",
		"http://192.168.1.4":                   "unencrypted",
		"http://127.1":                         "unencrypted",
		"http://localhost.evil.com":            "unencrypted",
		"http://[::ffff:10.0.0.1]":             "unencrypted",
		"ftp://example.com":                    "ftp:",
		"file:///etc/passwd":                   "has no host",
		"https://":                             "has no host",
		"https:opaque":                         "has no host",
		"https://user:pass@example.com":        "user name",
		"https://key@example.com":              "user name",
		"https://example.com/v1?key=1":         "leave it out",
		"https://example.com/v1?":              "leave it out",
		"https://example.com/v1#x":             "leave it out",
		"https://example.com/a%2fb":            "escaped",
		"https://example.com/../v1":            ". or ..",
		"https://example.com:0/v1":             "port",
		"https://example.com:99999":            "port",
		"https://example.com:":                 "colon",
		"https://exаmple.com":                  "xn--",
		"https://exam\tple.com":                "contains",
		"https://[fe80::1%25eth0]/":            "not a valid name",
		"https://x.com/v1/chat/completions":    "/chat/completions",
		"https://x.com/v1/chat/completions/":   "/chat/completions",
		"https://example.com\\@evil.com":       "",
		"https://evil.com\u202e/moc.elpmaxe//": "contains",
	} {
		if u, err := CheckBaseURL(raw, false); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("CheckBaseURL(%q) = %v, %v; want an error with %q", raw, u, err, why)
		} else if strings.Contains(err.Error(), "pass") && strings.Contains(raw, "pass@") && !strings.Contains(err.Error(), "password:") {
			t.Errorf("the error repeats the password: %v", err)
		}
	}
	if _, err := CheckBaseURL("http://192.168.1.4", true); err != nil {
		t.Errorf("plain http is refused in spite of consent: %v", err)
	}
}

func FuzzBaseURL(f *testing.F) {
	for _, s := range []string{"https://a/v1/", "http://[::1]:80", "http://127.0.0.1", "https://u@h", "HTTPS://X//y//", "http://localhost:1/%41", "https://a:443"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := CheckBaseURL(raw, false)
		if err != nil {
			return
		}
		again, err := CheckBaseURL(u.String(), false)
		if err != nil || again.String() != u.String() {
			t.Fatalf("%q becomes %q and then %v, %v", raw, u, again, err)
		}
		local := u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost")
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
			local = addr.Unmap().IsLoopback()
		}
		if u.Scheme != "https" && (u.Scheme != "http" || !local) || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Host == "" {
			t.Fatalf("%q was accepted as %q", raw, u)
		}
	})
}
