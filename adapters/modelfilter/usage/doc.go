// Package usage reads how often the proxy's clients used each model, from the
// files that the proxy writes, else from the proxy.
//
// # Types
//
// A [Use] is the use of one model since the proxy began to count, summed over all
// credentials. A [Report] is the use of one provider's models. A [Dir] is the
// proxy's data folder; it keeps the last report of each provider and reads a file
// again only after it has changed. Where no file can be read, as of a proxy in a
// container, an [Asker] asks the running proxy; an answer is used for some seconds.
//
// # What is known
//
// A provider without a readable file that the proxy does not report either has no
// report: the use of its models is unknown, not 0. A model that a report does not
// list has 0 requests.
//
// # Concurrency
//
// All methods are safe for concurrent use. A Report is immutable.
//
// # Caveats
//
// Files and answers belong to the proxy and hold API keys or names of credentials:
// they are only read, and of their content only the counts are kept. One that is too
// large, not JSON, or of another schema is an error that says so.
//
// The package implements section 9.1 of winnow's specification as far as it is about use.
package usage
