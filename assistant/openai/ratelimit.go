package openai

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"winnow/assistant/llm"
)

// maxDelay limits the delay that an endpoint can ask for.
const maxDelay = 30 * 24 * time.Hour

// rateLimits reads the x-ratelimit-* headers; nil if there are none.
func rateLimits(h http.Header, now time.Time) *llm.RateLimits {
	l := llm.RateLimits{
		RequestsPerMinute: max(headerCount(h, "X-Ratelimit-Limit-Requests", "X-Ratelimit-Limit"), 0),
		RequestsLeft:      headerCount(h, "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Remaining"),
		TokensPerMinute:   max(headerCount(h, "X-Ratelimit-Limit-Tokens"), 0),
		TokensLeft:        headerCount(h, "X-Ratelimit-Remaining-Tokens"),
		RequestsReset:     headerDelay(h, now, "X-Ratelimit-Reset-Requests", "X-Ratelimit-Reset"),
		TokensReset:       headerDelay(h, now, "X-Ratelimit-Reset-Tokens"),
	}
	if l == llm.UnknownLimits() {
		return nil
	}
	return &l
}

// headerCount returns the first of these headers that contains a number, or -1. In a list
// such as "10, 10;w=60" it reads the first number.
func headerCount(h http.Header, names ...string) int {
	for _, name := range names {
		text, _, _ := strings.Cut(h.Get(name), ",")
		if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && n >= 0 && n <= maxCount {
			return int(n)
		}
	}
	return -1
}

func headerDelay(h http.Header, now time.Time, names ...string) time.Duration {
	for _, name := range names {
		if d, ok := parseDelay(h.Get(name), now); ok {
			return d
		}
	}
	return 0
}

// retryAfter reads Retry-After or its variant in milliseconds; 0 if there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return boundedDelay(ms / 1000)
	}
	d, _ := parseDelay(h.Get("Retry-After"), now)
	return d
}

// A bare number of at least this size is not a delay but a Unix time (from 2001 on) in
// seconds or milliseconds.
const (
	epochSeconds = 1e9
	epochMillis  = 1e12
)

// parseDelay reads a delay: "1.5" seconds, "6m0s", "120ms", an HTTP date, an RFC
// 3339 time or a Unix time. A time in the past is a delay of 0.
func parseDelay(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, false
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		switch {
		case math.IsNaN(n) || n < 0:
			return 0, false
		case n >= epochMillis:
			n = n/1000 - float64(now.UnixMilli())/1000
		case n >= epochSeconds:
			n -= float64(now.UnixMilli()) / 1000
		}
		return boundedDelay(n), true
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return min(d, maxDelay), true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		at, err = time.Parse(time.RFC3339, text)
	}
	return min(max(at.Sub(now), 0), maxDelay), err == nil
}

// boundedDelay returns n seconds, limited to between 0 and maxDelay.
func boundedDelay(n float64) time.Duration {
	return time.Duration(min(max(n, 0), maxDelay.Seconds()) * float64(time.Second))
}
