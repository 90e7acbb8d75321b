// Package usage reads how often the proxy's clients used each model, from the files that
// the proxy writes, or else from the running proxy.
//
// # Types
//
// A [Use] describes how often one model was used since the proxy began to count, summed over all
// credentials. A [Report] contains the use of one provider's models. A [Dir] is the proxy's
// data folder; it keeps the last report of each provider and reads a file again only after
// it has changed. If no file can be read, for example because the proxy runs in a
// container, an [Asker] asks the running proxy; the response is cached for a few seconds.
//
// # What is known
//
// If a provider has no readable file and the proxy does not report it either, the use of
// its models is unknown, not 0. A model missing from a report has 0 requests.
//
// # Concurrency
//
// All methods may be called from any goroutine. A Report is immutable.
//
// # Caveats
//
// Files and responses come from the proxy and contain API keys or names of credentials, so
// only the counts in them are kept. If a file or response is too large, not JSON, or has
// another schema, the error says so.
//
// The package implements the part of section 9.1 of winnow's specification about the use of
// models.
package usage
