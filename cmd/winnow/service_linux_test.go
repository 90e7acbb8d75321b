package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// service is a running winnow serve, as a service manager starts it.
type service struct {
	t       *testing.T
	cmd     *exec.Cmd
	head    struct{ URL, Token, Metrics, SSH string }
	log     *bufio.Scanner // standard error
	notices *net.UnixConn  // what sd_notify tells
	ending  bool
}

// startService starts winnow serve with args, and with sockets that are already open.
func (b *bench) startService(sockets map[string]*os.File, args ...string) *service {
	b.t.Helper()
	dir, err := os.MkdirTemp("", "notify") // the path of a socket is short
	b.must(err)
	b.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	notices, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unixgram"})
	b.must(err)
	b.t.Cleanup(func() { _ = notices.Close() })
	line := "exec winnow serve --json -m offline/rules --log stderr --log-format text " + strings.Join(args, " ")
	s := &service{t: b.t, notices: notices}
	s.cmd = exec.CommandContext(context.WithoutCancel(b.t.Context()), "sh", "-c", "LISTEN_PID=$$ "+line)
	s.cmd.Dir, s.cmd.Env = b.dir, append(b.env, "NOTIFY_SOCKET="+filepath.Join(dir, "s"))
	var names []string
	for name, file := range sockets {
		names, s.cmd.ExtraFiles = append(names, name), append(s.cmd.ExtraFiles, file)
	}
	if len(names) > 0 {
		s.cmd.Env = append(s.cmd.Env, fmt.Sprint("LISTEN_FDS=", len(names)), "LISTEN_FDNAMES="+strings.Join(names, ":"))
	}
	out, err := s.cmd.StdoutPipe()
	b.must(err)
	errs, err := s.cmd.StderrPipe()
	b.must(err)
	s.log = bufio.NewScanner(errs)
	b.must(s.cmd.Start())
	b.t.Cleanup(s.end)
	if err := json.NewDecoder(out).Decode(&s.head); err != nil {
		rest, _ := io.ReadAll(errs)
		b.t.Fatalf("winnow serve prints no address: %v: %s", err, rest)
	}
	return s
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// end ends the service; later calls do nothing.
func (s *service) end() {
	if s.cmd.ProcessState != nil {
		return
	}
	s.terminate()
	for s.log.Scan() {
		continue
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("winnow serve: %v", err)
	}
}

// terminate asks the process to end, once: it ends at once at a second signal.
func (s *service) terminate() {
	if !s.ending {
		s.ending = true
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
	}
}

// told reads the next notice to the service manager.
func (s *service) told(want string) {
	s.t.Helper()
	_ = s.notices.SetReadDeadline(time.Now().Add(time.Minute))
	text := make([]byte, 100)
	n, err := s.notices.Read(text)
	if err != nil || string(text[:n]) != want {
		s.t.Errorf("the service manager is told %q, %v; want %q", text[:n], err, want)
	}
}

// logged reads the log up to a line with all these texts.
func (s *service) logged(want ...string) {
	s.t.Helper()
	for s.log.Scan() {
		line, all := s.log.Text(), true
		for _, text := range want {
			all = all && strings.Contains(line, text)
		}
		if all {
			return
		}
	}
	s.t.Errorf("the log has no line with %q", want)
}

// get makes a request and returns the status and the body.
func (s *service) get(client *http.Client, url, token string) (status int, body string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "GET", url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// keepsSockets checks that processes started by the service do not inherit its first n sockets.
func (s *service) keepsSockets(n int) {
	s.t.Helper()
	for fd := firstSocket; fd < firstSocket+n; fd++ {
		info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", s.cmd.Process.Pid, fd))
		_, flags, _ := strings.Cut(string(info), "flags:")
		set, _ := strconv.ParseInt(strings.Fields(flags + " 0")[0], 8, 64)
		if err == nil && set&syscall.O_CLOEXEC == 0 { // the service has closed a socket that it uses, and opened a copy
			s.t.Errorf("processes started by the service inherit descriptor %d", fd)
		}
	}
}

func TestAServiceUsesTheSocketsOfItsManager(t *testing.T) {
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	b.must(err)
	file, err := l.File()
	b.must(err)
	unused, err := l.File()
	b.must(err)
	address := l.Addr().String()
	b.must(l.Close()) // the files stay open
	s := b.startService(map[string]*os.File{"http": file, "ssh": unused}, "--http 127.0.0.1:1 --metrics 127.0.0.1:0")
	b.must(errors.Join(file.Close(), unused.Close()))
	s.told("READY=1")
	s.keepsSockets(2)
	if _, port, _ := net.SplitHostPort(address); !strings.HasSuffix(s.head.URL, ":"+port) {
		t.Errorf("it serves %s, and the socket is %s", s.head.URL, address)
	}
	if status, body := s.get(http.DefaultClient, "http://"+address+"/readyz", ""); status != 200 || body != "ready\n" {
		t.Errorf("/readyz: %d %s", status, body)
	}
	s.get(http.DefaultClient, "http://"+address+"/v1/window", s.head.Token)
	s.logged("http: request", "user=", `kind="GET /v1/window"`, "status=200")
	s.terminate()
	s.told("STOPPING=1")
	s.end()
}

func TestMetricsOfAServerForSSHAlone(t *testing.T) {
	s := serveSSH(t, "anna") // makes the keys
	s.running.end()
	watcher := strings.TrimSpace(string(s.run(0, "token", "add", "prometheus", "--role", "metrics")))
	user := strings.TrimSpace(string(s.run(0, "token", "add", "ben", "--role", "save")))
	run := s.startService(nil, "--ssh 127.0.0.1:0 --authorized-keys team.keys --metrics 127.0.0.1:0")
	url := "http://" + run.head.Metrics
	for token, want := range map[string]int{watcher: 200, user: 403, "": 401, "wrong": 401} {
		status, body := run.get(http.DefaultClient, url+"/metrics", token)
		if status != want {
			t.Errorf("/metrics: %d, want %d", status, want)
		}
		for _, name := range []string{"winnow_build_info", "go_goroutines", "process_open_fds", "winnow_sessions 0"} {
			if want == 200 && !strings.Contains(body, name) {
				t.Errorf("no %s in the metrics", name)
			}
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/v1/window": 404} {
		if status, _ := run.get(http.DefaultClient, url+path, watcher); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	s.must(os.Chmod(s.file(".env"), 0))
	if os.Getuid() != 0 { // who may read everything
		if status, _ := run.get(http.DefaultClient, url+"/readyz", ""); status != 503 {
			t.Errorf("/readyz of a file that cannot be read: %d", status)
		}
	}
	s.must(os.Chmod(s.file(".env"), 0o600))
}

// writeCertificate writes a certificate for localhost with a serial number.
func (b *bench) writeCertificate(serial int64) (pool *x509.CertPool) {
	b.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	b.must(err)
	made := &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	b.must(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	b.must(err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	for name, text := range map[string][]byte{"cert.pem": cert, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})} {
		b.must(os.WriteFile(filepath.Join(b.dir, name+".new"), text, 0o600))
		b.must(os.Rename(filepath.Join(b.dir, name+".new"), filepath.Join(b.dir, name)))
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}

func TestACertificateIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, hangup := range map[string]bool{"when its file changes": false, "after SIGHUP": true} {
		t.Run(name, func(t *testing.T) {
			catchSignals(t)
			b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
			first := b.writeCertificate(1)
			s := b.startService(nil, "--http 127.0.0.1:0 --cert cert.pem --key key.pem")
			serial := func(pool *x509.CertPool) int64 {
				client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true, DisableKeepAlives: true}}
				resp, err := client.Get(s.head.URL + "/healthz") //nolint:noctx // ends with the service
				if err != nil {
					return 0 // the other certificate
				}
				defer resp.Body.Close()
				if resp.ProtoMajor != 2 {
					t.Errorf("the protocol is %s", resp.Proto)
				}
				return resp.TLS.PeerCertificates[0].SerialNumber.Int64()
			}
			if got := serial(first); got != 1 {
				t.Fatalf("the first certificate is %d", got)
			}
			second := b.writeCertificate(2)
			if hangup {
				b.must(s.cmd.Process.Signal(syscall.SIGHUP))
				s.logged("reload")
			}
			s.logged("certificate reloaded")
			if got := serial(second); got != 2 {
				t.Errorf("the second certificate is %d", got)
			}
			b.must(os.WriteFile(filepath.Join(b.dir, "cert.pem"), []byte("damaged"), 0o600))
			s.logged("the previous one stays in use")
			if got := serial(second); got != 2 {
				t.Errorf("after a damaged file, the certificate is %d", got)
			}
		})
	}
}
