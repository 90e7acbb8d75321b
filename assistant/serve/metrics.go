package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// The servers that the metrics distinguish.
const (
	ServerHTTP = "http"
	ServerSSH  = "ssh"
	ServerMCP  = "mcp"
	ServerHub  = "hub" // for limits that apply to all servers together
)

// Metrics contains the metrics of a hub and its servers. Create it with NewMetrics. A nil Metrics counts nothing.
type Metrics struct {
	registry    *prometheus.Registry
	refused     *prometheus.CounterVec
	ended       *prometheus.CounterVec
	connections *prometheus.GaugeVec
	requests    *prometheus.GaugeVec
	calls       *prometheus.CounterVec
	saves       prometheus.Counter
	history     *prometheus.HistogramVec
}

// historySeconds are the upper bounds of the buckets for history operations, starting at a tenth of a millisecond.
var historySeconds = prometheus.ExponentialBuckets(0.0001, 4, 9)

// NewMetrics returns the metrics of this process, with the version of the program as a label.
func NewMetrics(version string) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "winnow_" + name, Help: help}, labels)
	}
	m := &Metrics{
		registry:    prometheus.NewRegistry(),
		refused:     counter("refused_total", "Refused requests and connections, by server and reason: a code of the HTTP API, or the limit that was reached.", "server", "reason"),
		ended:       counter("ended_total", "Sessions and connections that a server ended, by server and reason: idle, total (maximum duration of a connection), revoked, or room (to admit another session).", "server", "reason"),
		requests:    prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "winnow_open_requests", Help: "Open requests of users, such as event streams, by server."}, []string{"server"}),
		connections: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "winnow_connections", Help: "Open connections of users who have logged in, by server."}, []string{"server"}),
		calls:       counter("requests_total", "Requests, commands and tool calls, by server, kind and outcome.", "server", "kind", "outcome"),
		saves:       prometheus.NewCounter(prometheus.CounterOpts{Name: "winnow_saves_total", Help: "Saves of the window."}),
		history:     prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "winnow_history_seconds", Help: "Duration of history operations.", Buckets: historySeconds}, []string{"operation"}),
	}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "winnow_build_info", Help: "Always 1; the label contains the version of the program.", ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 })
	m.Register(m.refused, m.ended, m.requests, m.connections, m.calls, m.saves, m.history, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector())
	return m
}

// Register adds metrics to m.
func (m *Metrics) Register(more ...prometheus.Collector) {
	if m != nil {
		m.registry.MustRegister(more...)
	}
}

// Handler returns a handler that responds with all metrics, in the format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Refused counts a request or connection that a server has refused.
func (m *Metrics) Refused(server, reason string) {
	if m != nil {
		m.refused.WithLabelValues(server, reason).Inc()
	}
}

// Ended counts a session or connection that ended because of a limit or a removed credential.
func (m *Metrics) Ended(server, reason string) {
	if m != nil {
		m.ended.WithLabelValues(server, reason).Inc()
	}
}

// AddRequests adds n, which may be negative, to the number of open requests.
func (m *Metrics) AddRequests(server string, n int) {
	if m != nil {
		m.requests.WithLabelValues(server).Add(float64(n))
	}
}

// AddConnections adds n, which may be negative, to the number of open connections.
func (m *Metrics) AddConnections(server string, n int) {
	if m != nil {
		m.connections.WithLabelValues(server).Add(float64(n))
	}
}

// Called counts a request, command or tool call. There must be only a few different kinds.
func (m *Metrics) Called(server, kind, outcome string) {
	if m != nil {
		m.calls.WithLabelValues(server, kind, outcome).Inc()
	}
}

func (m *Metrics) saved() {
	if m != nil {
		m.saves.Inc()
	}
}

// timed is a history whose most frequent operations are measured.
type timed struct {
	history.Store
	metrics *Metrics
}

func (t timed) measure(operation string) func() {
	began := time.Now()
	return func() { t.metrics.history.WithLabelValues(operation).Observe(time.Since(began).Seconds()) }
}

// Commit implements assistant.Store.
func (t timed) Commit(ctx context.Context, b *assistant.Batch) error {
	defer t.measure("commit")()
	return t.Store.Commit(ctx, b)
}

// Load implements assistant.Store.
func (t timed) Load(ctx context.Context, seqs []int64) ([]assistant.Pair, error) {
	defer t.measure("load")()
	return t.Store.Load(ctx, seqs)
}

// Filter implements history.Searcher.
func (t timed) Filter(ctx context.Context, q *filter.Query, env history.Env) (history.Result, error) {
	defer t.measure("filter")()
	return t.Store.Filter(ctx, q, env)
}
