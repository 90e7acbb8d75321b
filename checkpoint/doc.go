// Package checkpoint keeps the versions of a document.
package checkpoint
