// Package attachment represents the files sent with a message: text files, whose text is part of the message, and
// pictures, which are sent separately.
//
// # Types
//
// A File is either a text file or a picture. NewPicture creates one from the bytes of a picture and rejects pictures
// that models do not accept. A store keeps the Data of each picture once, under its Hash.
//
// # Concurrency
//
// Files are plain data and the functions are stateless, so any goroutine may use them.
//
// # Caveats
//
// The dimensions of a WebP picture are not read: only its type and size are checked, and its tokens are estimated as
// the maximum. Only the header of a picture is decoded, so the endpoint may still find it damaged.
package attachment

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // registers the format, so that image.DecodeConfig can read its header
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Limits on pictures. A picture that an endpoint rejects would be in every later request of its conversation, so
// these are the limits of the strictest common endpoint: 5 MiB of base64 and 8,000 pixels
// (https://docs.anthropic.com/en/docs/build-with-claude/vision).
const (
	MaxPictureBytes = 5 << 20 / 4 * 3
	MaxPictureSide  = 8000
	MaxPictures     = 8 // per message, 40 MiB of base64
)

// PictureKinds lists the kinds of pictures that models accept, for display.
const PictureKinds = "PNG, JPEG, GIF or WebP"

// File is a file sent with a message.
type File struct {
	Name string `json:"name"` // as written by the user
	Type string `json:"type"` // MIME type
	Size int64  `json:"size"` // bytes

	// Only for pictures:
	Hash   string `json:"hash,omitempty"`   // SHA-256 of Data in hexadecimal; "" if the file is not a picture
	Width  int    `json:"width,omitempty"`  // pixels; 0 if unknown
	Height int    `json:"height,omitempty"` // pixels; 0 if unknown
	Data   []byte `json:"data,omitempty"`   // nil if the data is in the store
}

// pictureTypes maps the format names that image.DecodeConfig returns to MIME types.
var pictureTypes = map[string]string{"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}

// sniff returns the name in pictureTypes that matches the first bytes, regardless of the file name, or "".
func sniff(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "gif"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "webp"
	}
	return ""
}

// IsPicture reports whether the first bytes or the name of a file indicate a picture. NewPicture rejects it if models
// do not accept it.
func IsPicture(name string, data []byte) bool {
	others := []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".heif", ".avif", ".ico"}
	return sniff(data) != "" || slices.Contains(others, strings.ToLower(path.Ext(name)))
}

// NewPicture returns the File for a picture after checking its type and size. The text of an error completes a
// sentence that starts with the file name: "is larger than …".
func NewPicture(name string, data []byte) (File, error) {
	kind := sniff(data)
	f := File{Name: name, Type: pictureTypes[kind], Size: int64(len(data)), Data: data}
	switch {
	case len(data) > MaxPictureBytes:
		return f, fmt.Errorf("is larger than %s: make the picture smaller", SizeText(MaxPictureBytes))
	case kind == "":
		return f, errors.New("is not a kind of picture that models accept: convert it to " + PictureKinds)
	case kind != "webp":
		config, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return f, fmt.Errorf("is a damaged %s picture: %w", strings.ToUpper(kind), err)
		}
		if f.Width, f.Height = config.Width, config.Height; max(f.Width, f.Height) > MaxPictureSide {
			return f, fmt.Errorf("has %d×%d pixels, but at most %d per side are allowed: make the picture smaller", f.Width, f.Height, MaxPictureSide)
		}
	}
	f.Hash = hash(data)
	return f, nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Check returns an error if the file has Data that does not match its Hash and Size.
func (f File) Check() error {
	if f.Data != nil && (f.Hash != hash(f.Data) || f.Size != int64(len(f.Data))) {
		return fmt.Errorf("%q does not match its hash", f.Name)
	}
	return nil
}

// Pictures returns the pictures among files, or nil if there are none.
func Pictures(files []File) (pictures []File) {
	for _, f := range files {
		if f.Hash != "" {
			pictures = append(pictures, f)
		}
	}
	return pictures
}

// Stripped returns files without their Data, as stored in a pair.
func Stripped(files []File) []File {
	files = slices.Clone(files)
	for i := range files {
		files[i].Data = nil
	}
	return files
}

// Tokens estimates the tokens of the pictures among files, using OpenAI's published rule for models that process tiles
// (https://platform.openai.com/docs/guides/images-vision, "Calculating costs"): the picture is scaled down to 2,048
// pixels per side, then to 768 on the shorter side; it costs 85 tokens plus 170 for each tile of 512 pixels.
func Tokens(files []File) (sum int) {
	for _, f := range Pictures(files) {
		sum += f.tokens()
	}
	return sum
}

func (f File) tokens() int {
	const longest, shortest, tile, perTile, base = 2048, 768, 512, 170, 85
	w, h := float64(f.Width), float64(f.Height)
	if f.Width <= 0 || f.Height <= 0 {
		w, h = longest, shortest // the most expensive size
	}
	scale := min(1, longest/max(w, h))
	scale = min(scale, shortest/min(w, h))
	tiles := func(side float64) int { return max(1, int(math.Ceil(math.Round(side*scale)/tile))) }
	return base + perTile*tiles(w)*tiles(h)
}

// String describes a picture in one line: name, type, pixels, bytes and tokens.
func (f File) String() string {
	parts := []string{f.Name, strings.ToUpper(strings.TrimPrefix(f.Type, "image/"))}
	if f.Width > 0 {
		parts = append(parts, fmt.Sprintf("%d×%d", f.Width, f.Height))
	}
	return strings.Join(append(parts, SizeText(f.Size), fmt.Sprintf("~%d tokens", f.tokens())), " · ")
}

// SizeText formats a size in bytes for display.
func SizeText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.2f MiB", float64(n)/(1<<20))
}

// leftOut and leftOutEnd enclose the description in the data URL of a picture without Data.
const (
	leftOut    = "(left out: "
	leftOutEnd = ")"
)

// URL returns the picture as a data URL. Without Data, the URL contains a description instead, as in stored and
// displayed requests.
func (f File) URL() string {
	url := "data:" + f.Type + ";base64,"
	if f.Data == nil {
		return fmt.Sprintf("%s%s%s · SHA-256 %s%s", url, leftOut, f, f.Hash, leftOutEnd)
	}
	return url + base64.StdEncoding.EncodeToString(f.Data)
}

// ReadURL returns the description that URL produces for a picture without Data, and the picture's tokens; ok is false
// for any other URL.
func ReadURL(url string) (description string, tokens int, ok bool) {
	_, text, found := strings.Cut(url, ";base64,"+leftOut)
	text, closed := strings.CutSuffix(text, leftOutEnd)
	description, _, hashed := cutLast(text, " · SHA-256 ")
	_, count, counted := cutLast(description, " · ~")
	tokens, err := strconv.Atoi(strings.TrimSuffix(count, " tokens"))
	return description, tokens, found && closed && hashed && counted && err == nil
}

// cutLast is like strings.Cut, but at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
