//go:build unix

package api

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	at "winnow/assistant/assistanttest"
)

// followEnv has the address of a stream: the process follows it instead of running tests.
const followEnv = "WINNOW_TEST_FOLLOW"

const (
	benchFollowers = 200
	benchPause     = time.Second / 200 // between two pieces of a streamed text
	benchText      = `{"type":"text_delta","text":" a token"}`
	benchEnd       = `{"type":"complete"}`
)

func TestMain(m *testing.M) {
	if url := os.Getenv(followEnv); url != "" {
		if err := followAll(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	at.UseMemory()
	debug.SetGCPercent(400) // the values of each response are short-lived
	os.Exit(m.Run())
}

// followAll follows a stream over benchFollowers connections. It prints a line when all
// are open, and the number of all events when all have the last one.
func followAll(url string) error {
	var open, ended sync.WaitGroup
	var events atomic.Int64
	for range benchFollowers {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+testToken)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		open.Add(1)
		ended.Go(func() {
			lines := bufio.NewScanner(resp.Body)
			for lines.Scan() {
				switch line := lines.Text(); {
				case strings.HasPrefix(line, "retry: "):
					open.Done()
				case strings.HasPrefix(line, "data: "):
					if events.Add(1); line == "data: "+benchEnd {
						return
					}
				}
			}
		})
	}
	open.Wait()
	fmt.Println("open")
	ended.Wait()
	fmt.Println(events.Load())
	return nil
}

// BenchmarkFollowers streams 200 pieces of text a second to 200 followers, which are
// another process. The figures are those of the server.
func BenchmarkFollowers(b *testing.B) {
	r := newRig(b, at.NewScript())
	id, path := r.open("anna")
	st := r.server.streams[id]
	before := memory()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), followEnv+"="+r.url+path+"/events")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	r.must(err)
	r.must(cmd.Start())
	says := bufio.NewReader(out)
	if line, err := says.ReadString('\n'); err != nil || line != "open\n" {
		b.Fatalf("the followers say %q, %v", line, err)
	}
	each := float64(memory()-before) / benchFollowers

	tick := time.NewTicker(benchPause)
	defer tick.Stop()
	cpu, n, began := cpuTime(b), 1, time.Now()
	for b.Loop() {
		<-tick.C
		st.add([]byte(benchText), false)
		n++
	}
	took := time.Since(began)
	st.add([]byte(benchEnd), true)
	line, err := says.ReadString('\n')
	r.must(err)
	if want := fmt.Sprintln(n * benchFollowers); line != want {
		b.Errorf("the followers got %s events, want %s", line, want)
	}
	used := cpuTime(b) - cpu
	b.ReportMetric(float64(used.Microseconds())/float64(n*benchFollowers), "us-cpu/event/follower")
	b.ReportMetric(each, "B/follower")
	b.ReportMetric(100*used.Seconds()/took.Seconds(), "%cpu")
	b.ReportMetric(float64(n)/took.Seconds(), "events/s")
	r.must(cmd.Wait())
}

// memory is what the heap and the stacks need, in bytes.
func memory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// cpuTime is the time this process has computed.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
