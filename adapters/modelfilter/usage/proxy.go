package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// StatsPath is the path, below the proxy's base URL, of the proxy's counts.
	StatsPath = "quota-stats"
	// MaxStats is the maximum size of a response in bytes. A response contains about 1 KB
	// for each model, credential and quota period.
	MaxStats = 32 << 20

	// askTimeout is how long a request to the proxy may take. It is short, because commands
	// and tools wait for it.
	askTimeout = time.Second
	// answerLife is how long a response is used before the proxy is asked again. After a
	// failure that is failureLife, because each request delays a change to rules.
	answerLife  = 15 * time.Second
	failureLife = time.Minute
)

// Asker returns the running proxy's response to a GET of StatsPath. The response is empty
// if no proxy is running, or if the proxy does not count requests. Errors must not contain
// keys.
type Asker func(ctx context.Context) ([]byte, error)

// proxyAnswer is the last response from the proxy.
type proxyAnswer struct {
	mu      sync.Mutex // held during a request, so that all callers share it
	asked   time.Time  // time of the last request; zero if there was none
	reports map[string]*Report
	err     error
}

// stats is the part of a response that is read; keys and names of credentials are ignored.
type stats struct {
	Providers map[string]struct {
		Credentials map[string]credential `json:"credentials"`
	} `json:"providers"`
}

// fromProxy returns a provider's report, or nil if the proxy has counted no requests for
// the provider.
func (d *Dir) fromProxy(provider string) (*Report, error) {
	if d.ask == nil {
		return nil, nil
	}
	p := &d.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	life := answerLife
	if p.err != nil {
		life = failureLife
	}
	if p.asked.IsZero() || time.Since(p.asked) > life {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		text, err := d.ask(ctx)
		p.reports = nil
		if p.err = err; err == nil && len(text) > 0 {
			p.reports, p.err = readStats(text)
		}
		p.asked = time.Now()
	}
	return p.reports[provider], p.err
}

// readStats parses a response from the proxy.
func readStats(text []byte) (map[string]*Report, error) {
	var s stats
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("the proxy's answer to %s cannot be read: %s", StatsPath, jsonReason(err))
	}
	if s.Providers == nil {
		return nil, errors.New("the answer to " + StatsPath + " lists no providers: check whether another program answers at the proxy's address")
	}
	reports := make(map[string]*Report, len(s.Providers))
	for provider, p := range s.Providers {
		reports[provider] = newReport(provider, p.Credentials)
	}
	return reports, nil
}
