package static

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

//go:embed src/i18n/*.json
var catalogueFiles embed.FS

var catalogues = loadCatalogues()

func loadCatalogues() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, lang := range Languages() {
		data, err := catalogueFiles.ReadFile("src/i18n/" + lang + ".json")
		if err != nil {
			panic(err) // embedded: cannot fail
		}
		var m map[string]string
		if err := json.Unmarshal(data, &m); err != nil {
			panic(fmt.Sprintf("static: catalogue %s: %v", lang, err))
		}
		all[lang] = m
	}
	return all
}

// Languages lists the languages of the page, the default first.
func Languages() []string { return []string{"en", "zh"} }

// LanguageTag is the value of an HTML lang attribute for a language.
func LanguageTag(lang string) string {
	if lang == "zh" {
		return "zh-Hans"
	}
	return lang
}

// Text is the text under a key of a language's catalogue, English for a language
// that has none. A key without a text comes back as it is, in brackets, so that it
// is seen; a test finds it first.
func Text(lang, key string) string {
	m, ok := catalogues[lang]
	if !ok {
		m = catalogues["en"]
	}
	if s, ok := m[key]; ok {
		return s
	}
	return "[" + key + "]"
}

// Keys lists the keys of a catalogue in order.
func Keys(lang string) []string { return slices.Sorted(maps.Keys(catalogues[lang])) }
