package script

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// tokenKind says what a token is.
type tokenKind uint8

const (
	word  tokenKind = iota // also numbers, durations, names, - and ->
	text                   // a string in double quotes; the token's text is without them
	comma                  // , which needs no blank before it
	end                    // of the line
)

type token struct {
	kind   tokenKind
	text   string
	column int // from 1, in characters
}

func (t token) String() string {
	switch t.kind {
	case end:
		return "the end of the line"
	case text:
		return `the string "` + t.text + `"`
	}
	return `"` + t.text + `"`
}

// tokens splits a line. The last token is the end, at the column behind the last
// character that counts. A comment starts with # outside of a string.
func tokens(line string) ([]token, *Error) {
	at := func(i int) int { return utf8.RuneCountInString(line[:i]) + 1 }
	if len(line) > MaxLineBytes {
		return nil, &Error{Column: 1, Message: fmt.Sprintf("a line has at most %d bytes, this one %d", MaxLineBytes, len(line))}
	}
	var l []token
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		if r == utf8.RuneError && size == 1 {
			return nil, &Error{Column: at(i), Message: "expected UTF-8 text"}
		}
		switch {
		case r == ' ' || r == '\t':
			i++
		case r == '#':
			if !utf8.ValidString(line[i:]) {
				return nil, &Error{Column: at(i), Message: "expected UTF-8 text in the comment"}
			}
			return append(l, token{end, "", at(i)}), nil
		case r == ',':
			l = append(l, token{comma, ",", at(i)})
			i++
		case r == '"':
			n, err := stringEnd(line[i+1:])
			if err != "" {
				return nil, &Error{Column: at(i), Message: err}
			}
			l = append(l, token{text, line[i+1 : i+1+n], at(i)})
			i += n + 2
		case unicode.IsControl(r) || unicode.IsSpace(r) || r == utf8.RuneError:
			return nil, &Error{Column: at(i), Message: fmt.Sprintf("the character %U cannot stand here; words are separated by blanks", r)}
		default:
			n := wordEnd(line[i:])
			l = append(l, token{word, line[i : i+n], at(i)})
			i += n
		}
	}
	return append(l, token{end, "", at(len(line))}), nil
}

// stringEnd is the length of a string's text, up to the closing quote.
func stringEnd(s string) (int, string) {
	runes := 0
	for i, r := range s {
		switch {
		case r == '"':
			if runes > MaxValueRunes {
				return 0, fmt.Sprintf("a string has at most %d characters, this one %d", MaxValueRunes, runes)
			}
			if runes == 0 {
				return 0, "expected at least one character between the quotes"
			}
			return i, ""
		case unicode.IsControl(r):
			return 0, fmt.Sprintf("the control character %U cannot stand in a string", r)
		case r == utf8.RuneError && !utf8.ValidString(s[i:min(i+3, len(s))]):
			return 0, "expected UTF-8 text in the string"
		}
		runes++
	}
	return 0, `expected a closing " on this line`
}

func wordEnd(s string) int {
	for i, r := range s {
		if r == '#' || r == ',' || r == '"' || unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			return i
		}
	}
	return len(s)
}
