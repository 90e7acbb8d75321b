package openai

import (
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// kernel is a connection with a buffer of limited size: what was written while
// nobody read is read at once, and a writer waits while it is full.
type kernel struct {
	net.Conn
	mu      sync.Mutex
	changed *sync.Cond
	buffer  []byte
	closed  bool
	reads   int
}

const bufferSize = 64 << 10

func newKernel() *kernel {
	k := &kernel{}
	k.changed = sync.NewCond(&k.mu)
	return k
}

func (k *kernel) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.buffer)+len(p) > bufferSize {
		k.changed.Wait()
	}
	k.buffer = append(k.buffer, p...)
	k.changed.Broadcast()
	return len(p), nil
}

func (k *kernel) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.changed.Broadcast()
	return nil
}

func (k *kernel) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.buffer) == 0 {
		if k.closed {
			return 0, io.EOF
		}
		k.changed.Wait()
	}
	k.reads++
	n := copy(p, k.buffer)
	k.buffer = k.buffer[n:]
	k.changed.Broadcast()
	return n, nil
}

// readAll reads what write writes, paced, in buffers of 4 KiB.
func readAll(t *testing.T, interval time.Duration, write func(io.Writer)) (total, reads int, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		k := newKernel()
		c := newPacedConn(k)
		c.Start(interval, t.Context().Done())
		began := time.Now()
		go func() {
			write(k)
			_ = k.Close()
		}()
		n, err := io.CopyBuffer(onlyWriter{io.Discard}, onlyReader{c}, make([]byte, 4<<10))
		if err != nil {
			t.Error(err)
		}
		total, reads, took = int(n), k.reads, time.Since(began)
	})
	return total, reads, took
}

// onlyReader and onlyWriter hide other ways to copy, which have buffers of their own.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)

// A stream at full speed is not slowed down by the size of the kernel's buffer, and one
// that becomes slow after it is paced again.
func TestFullSpeedIsNotPaced(t *testing.T) {
	const interval, size = 100 * time.Millisecond, 2 << 20
	total, _, took := readAll(t, interval, func(w io.Writer) {
		for range size >> 10 {
			_, _ = w.Write(make([]byte, 1<<10))
		}
	})
	if limit := 3 * interval; total != size || took > limit { // 32 buffers: 3.2 s with a pause each
		t.Errorf("%d bytes took %v, want %d in at most %v", total, took, size, limit)
	}
	fast := 0 // reads of the part at full speed
	total, reads, _ := readAll(t, interval, func(w io.Writer) {
		for range size >> 10 {
			_, _ = w.Write(make([]byte, 1<<10))
		}
		synctest.Wait()
		fast = w.(*kernel).reads
		for range 200 {
			time.Sleep(interval / 20)
			_, _ = w.Write(make([]byte, 100))
		}
	})
	if total != size+200*100 || reads > fast+60 { // without pauses, 200 more
		t.Errorf("%d bytes in %d reads, want %d in at most %d", total, reads, size+200*100, fast+60)
	}
}

// A stream of 1,000 tokens a second is paced: a read for each interval.
func TestAThousandTokensASecondArePaced(t *testing.T) {
	const interval = 40 * time.Millisecond
	total, reads, took := readAll(t, interval, func(w io.Writer) {
		for range 2000 {
			time.Sleep(time.Millisecond)
			_, _ = w.Write(make([]byte, 170))
		}
	})
	if limit := 3 * int(took/interval); total != 2000*170 || reads > limit { // each 40 events are two reads: one fills its buffer
		t.Errorf("%d bytes in %d reads, want %d in at most %d", total, reads, 2000*170, limit)
	}
}
