package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// unknownOutcomeError is returned if it cannot be determined whether a transaction was committed, because the server
// did not come back in time. Committing a batch again is safe if its pairs have ids.
type unknownOutcomeError struct{ cause error }

func (e *unknownOutcomeError) Error() string {
	return "the connection was lost during the commit; the change may have been stored"
}

func (e *unknownOutcomeError) Unwrap() error { return e.cause }

// sqlState returns the code of a server error, and "" for any other error.
func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Error codes of PostgreSQL; see appendix A of its documentation.
const (
	codeReadOnly      = "25006"
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeDenied        = "42501"
	codeNoObject      = "42704"
	codeValue         = "22023"
)

// disconnected reports whether an error means that the connection is lost, or that the server is stopping or
// starting.
func disconnected(err error) bool {
	if code := sqlState(err); code != "" {
		return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P")
	}
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || err != nil && (pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "conn closed"))
}

// transient reports whether an operation that failed with err can be retried.
func transient(err error) bool {
	code := sqlState(err)
	return errors.Is(err, errAborted) || errors.Is(err, errPooled) || code == codeSerialization || code == codeDeadlock ||
		disconnected(err) && !errors.Is(err, context.Canceled) && !errors.As(err, new(*unknownOutcomeError))
}

// unknown reports whether a transaction whose commit failed with err may have been committed nevertheless.
func unknown(err error) bool {
	return err != nil && (sqlState(err) == "" || disconnected(err))
}

// reasons maps the codes of the server to explanations for users. A key of two or three characters covers all codes
// that begin with it.
var reasons = map[string]string{
	codeReadOnly: "the server is read-only", codeDenied: "the database role is not allowed to do this",
	"53100": "the server's disk is full", "53200": "the server is out of memory", "53300": "the server has too many connections", "53": "the server is out of resources",
	"23505": "the id is already in use, perhaps by another role", "57014": "the server took too long", "55P03": "timed out waiting for another program's lock",
	"57P": "the server is stopping or starting", "08": "the connection was lost", "58": "the server's disk reports an error", "XX": "the server reports an internal error",
	"28": "the server refuses the user or the password", "3D": "the database does not exist",
}

// explain converts an error of the server or of the network to a *history.StorageError. It returns nil and other
// errors unchanged.
func (s *store) explain(op string, err error) error {
	var known *history.StorageError
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	code := sqlState(err)
	for _, part := range []string{code, code[:min(len(code), 3)], code[:min(len(code), 2)]} {
		if reason := reasons[part]; reason != "" {
			return &history.StorageError{Op: op, Path: s.path, Reason: reason, Err: err}
		}
	}
	var refusal *pgconn.PgError
	switch {
	case errors.As(err, &refusal) && (errors.As(err, new(*pgconn.ConnectError)) || op == "open" && (code == codeValue || code == codeNoObject)): // for example, a parameter in the address is invalid
		return &history.StorageError{Op: op, Path: s.path, Reason: "the server refuses the connection: " + refusal.Message, Err: err}
	case errors.Is(err, errNoAnswer):
		return &history.StorageError{Op: op, Path: s.path, Reason: errNoAnswer.Error(), Err: err}
	case errors.As(err, new(*unknownOutcomeError)):
		return &history.StorageError{Op: op, Path: s.path, Reason: err.Error(), Err: err}
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*pgconn.ConnectError)): // the deadline of the caller, which is also a net.Error
		return &history.StorageError{Op: op, Path: s.path, Reason: "the server took too long", Err: err}
	case disconnected(err) || errors.Is(err, errAborted) || errors.Is(err, sqlstore.ErrBroken):
		return &history.StorageError{Op: op, Path: s.path, Reason: unreachable(op, err), Err: err}
	}
	return err
}

// unreachable returns the reason for a failed connection. When a store is opened, the reason includes the cause,
// because the address may be wrong.
func unreachable(op string, err error) string {
	const reason = "the server cannot be reached"
	switch {
	case op != "open":
		return reason
	case errors.As(err, new(*net.DNSError)):
		return reason + ": its name could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return reason + ": the connection was refused"
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return reason + ": its certificate is not valid"
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return reason + ": it refuses encryption"
	}
	return reason
}
