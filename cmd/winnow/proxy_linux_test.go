package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// nginxSettings are the settings of a proxy as an operator would write them, in a folder of the test. They name the
// user of the process, the address of the proxy, and that of the server behind it.
const nginxSettings = `daemon off;
pid nginx.pid;
error_log stderr;
%s
events {}
http {
  access_log off;
  client_body_temp_path temp; proxy_temp_path temp; fastcgi_temp_path temp; uwsgi_temp_path temp; scgi_temp_path temp;
  server {
    listen %s ssl http2;
    ssl_certificate cert.pem;
    ssl_certificate_key key.pem;
    location / {
      proxy_pass %s;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_read_timeout 1h;
    }
  }
}
`

// startNginx starts a proxy with TLS in front of a server. It ends with the test.
func (b *bench) startNginx(nginx, address, server string, client *http.Client) {
	b.t.Helper()
	user := ""
	if os.Getuid() == 0 {
		user = "user root;" // otherwise its workers cannot use the folder
	}
	b.must(os.WriteFile(filepath.Join(b.dir, "nginx.conf"), fmt.Appendf(nil, nginxSettings, user, address, server), 0o600))
	cmd := exec.CommandContext(context.WithoutCancel(b.t.Context()), nginx, "-p", b.dir, "-c", filepath.Join(b.dir, "nginx.conf"), "-e", "stderr")
	cmd.Dir, cmd.Stderr = b.dir, os.Stderr
	b.must(cmd.Start())
	var died error
	ended := make(chan struct{})
	go func() {
		died = cmd.Wait()
		close(ended)
	}()
	b.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // a fast shutdown
		<-ended
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		resp, err := client.Get("https://" + address + "/healthz") //nolint:noctx // ends with the proxy
		if err == nil {
			_ = resp.Body.Close()
			return
		}
		select {
		case <-ended:
			b.t.Fatalf("nginx: %v", died)
		default:
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("nginx does not answer: %v", err)
		}
	}
}

// Behind a real proxy with TLS and HTTP/2, events arrive as they happen, and the log has the address of the client.
func TestBehindNginx(t *testing.T) {
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		if nginx, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Skip("left out: nginx is not installed")
		}
	}
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	pool := b.writeCertificate(1)
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	b.must(err)
	address := free.Addr().String()
	b.must(free.Close())
	s := b.startService(nil, "--http 127.0.0.1:0 --trusted-proxy 127.0.0.1 --public-url https://"+address)
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}} // another address than that of the proxy
	client := &http.Client{Transport: &http.Transport{DialContext: from.DialContext, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}}
	t.Cleanup(client.CloseIdleConnections)
	b.startNginx(nginx, address, s.head.URL, client)

	do := func(method, path, body string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "https://"+address+path, strings.NewReader(body))
		b.must(err)
		req.Header.Set("Authorization", "Bearer "+s.head.Token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		b.must(err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		if resp.ProtoMajor != 2 {
			t.Errorf("the protocol is %s", resp.Proto)
		}
		return resp
	}
	opened := do("POST", "/v1/sessions", "{}")
	path := opened.Header.Get("Location")
	if opened.StatusCode != http.StatusCreated || path == "" {
		t.Fatalf("open a session: %s", opened.Status)
	}
	s.logged("http: request", `kind="POST /v1/sessions"`, "remote=127.0.0.2")
	events := bufio.NewScanner(do("GET", path+"/events", "").Body)
	if !events.Scan() {
		t.Fatal("the stream has ended")
	}
	edited := do("POST", "/v1/window/edit", `{"session":"`+filepath.Base(path)+`","tool":"add_ignore_rule","arguments":{"pattern":"*mini*"}}`)
	if edited.StatusCode != http.StatusOK {
		t.Errorf("edit: %s", edited.Status)
	}
	for events.Scan() && !strings.Contains(events.Text(), "*mini*") { // the stream stays open: a proxy that gathers events would send nothing
	}
	if !strings.Contains(events.Text(), `"kind":"edited"`) {
		t.Errorf("the event is %s", events.Text())
	}
	turn := bufio.NewScanner(do("POST", path+"/messages", `{"text":"hide every nano model"}`).Body)
	for turn.Scan() && !strings.Contains(turn.Text(), `"type":"complete"`) {
	}
	if !strings.Contains(turn.Text(), `"type":"complete"`) {
		t.Errorf("the turn ended with %s, %v", turn.Text(), turn.Err())
	}
	plan := do("GET", "/v1/window/plan?session="+filepath.Base(path), "")
	if tag := plan.Header.Get("ETag"); plan.StatusCode != http.StatusOK || tag == "" {
		t.Errorf("the plan: %s, ETag %q", plan.Status, tag)
	}
}
