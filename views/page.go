package views

// Page is what a page is rendered from.
type Page struct {
	Lang       string // "en" or "zh": which catalogue Text reads
	LangTag    string // of the lang attribute: "en", "zh-Hans"; empty: Lang
	ClusterID  string
	SocketPath string // "/c/{id}/socket"

	// Text is the text under a key of the catalogue of Lang; Asset is the address of
	// a static file.
	Text  func(key string) string
	Asset func(name string) string
}

func (p Page) tag() string {
	if p.LangTag != "" {
		return p.LangTag
	}
	if p.Lang == "zh" {
		return "zh-Hans"
	}
	return p.Lang
}
