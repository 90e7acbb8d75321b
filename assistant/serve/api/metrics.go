package api

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"winnow/assistant"
	"winnow/assistant/serve"
)

// metrics contains the metrics of this server and of the hub.
type metrics struct {
	*serve.Metrics
	turns     *prometheus.CounterVec // by outcome
	failures  *prometheus.CounterVec // by code
	tokens    *prometheus.CounterVec // by kind
	firstText prometheus.Histogram
	whole     prometheus.Histogram
	followers prometheus.Gauge
	dropped   prometheus.Counter
}

// seconds contains the upper bounds of the histogram buckets. An answer takes between a tenth of a second and a few
// minutes.
var seconds = prometheus.ExponentialBuckets(0.1, 2, 12)

func newMetrics(s *Server) *metrics {
	counter := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "winnow_" + name, Help: help}, []string{label})
	}
	m := &metrics{
		turns:     counter("turns_total", "Turns that ended, by outcome: complete, error or cancelled.", "end"),
		failures:  counter("turn_failures_total", "Turns that failed, by the code of the error.", "code"),
		tokens:    counter("tokens_total", "Tokens as reported by endpoints, by kind: prompt or completion.", "kind"),
		firstText: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "winnow_first_text_seconds", Help: "Time from a message to the first text, reasoning or tool call.", Buckets: seconds}),
		whole:     prometheus.NewHistogram(prometheus.HistogramOpts{Name: "winnow_turn_seconds", Help: "Time from a message to the end of its turn.", Buckets: seconds}),
		followers: prometheus.NewGauge(prometheus.GaugeOpts{Name: "winnow_followers", Help: "Open event streams."}),
		dropped:   prometheus.NewCounter(prometheus.CounterOpts{Name: "winnow_followers_dropped_total", Help: "Event streams that ended because the client read too slowly or the connection failed."}),
	}
	if m.Metrics = s.opts.Metrics; m.Metrics == nil {
		m.Metrics = serve.NewMetrics(s.opts.Version)
	}
	m.Register(m.turns, m.failures, m.tokens, m.firstText, m.whole, m.followers, m.dropped)
	m.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "winnow_event_bytes", Help: "Bytes of the events that are stored for the followers of all HTTP sessions."}, func() float64 {
		sum := 0
		for _, st := range s.open() {
			sum += st.frames.Size()
		}
		return float64(sum)
	}))
	if s.opts.Agents != nil {
		m.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "winnow_agents", Help: "Agents connected over HTTP, SSH or a local socket."}, func() float64 {
			open, _ := s.opts.Agents.Counts()
			return float64(open)
		}))
	}
	return m
}

// turnMetrics measures one turn.
type turnMetrics struct {
	*metrics
	began    time.Time
	seq      int64 // the seq of the pair; 0 if the turn has none yet
	answered bool
}

func (m *metrics) begin() *turnMetrics { return &turnMetrics{metrics: m, began: time.Now()} }

// observe updates the metrics for an event.
func (t *turnMetrics) observe(e assistant.Event) {
	switch e := e.(type) {
	case assistant.TurnStarted:
		t.seq = e.Seq
	case assistant.TextDelta, assistant.ReasoningDelta, assistant.ToolStart:
		if !t.answered {
			t.answered = true
			t.firstText.Observe(time.Since(t.began).Seconds())
		}
	case assistant.Complete:
		t.end("complete")
	case assistant.Cancelled:
		t.end("cancelled")
	case assistant.Error:
		t.end("error")
		t.failures.WithLabelValues(e.Code).Inc()
	default:
	}
}

func (t *turnMetrics) end(how string) {
	t.turns.WithLabelValues(how).Inc()
	t.whole.Observe(time.Since(t.began).Seconds())
}

// spent counts the tokens of a turn that has ended.
func (t *turnMetrics) spent(s *serve.Session) {
	if t.seq == 0 {
		return
	}
	pairs, err := s.Session().Pairs(context.Background(), []int64{t.seq})
	if err != nil || len(pairs) == 0 || pairs[0].Usage == nil {
		return
	}
	t.tokens.WithLabelValues("prompt").Add(float64(pairs[0].Usage.Prompt))
	t.tokens.WithLabelValues("completion").Add(float64(pairs[0].Usage.Completion))
}
