package browser

import (
	"context"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// scheme makes the browser prefer dark or light.
func scheme(v view) chromedp.Action[chromedp.Void] {
	value := "light"
	if v.dark {
		value = "dark"
	}
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}},
		})
		return err
	})
}

// mobile makes the browser a phone's.
func mobile(v view) chromedp.EmulateViewportOption {
	return func(m *emulation.SetDeviceMetricsOverrideParams, touch *emulation.SetTouchEmulationEnabledParams) {
		m.Mobile, touch.Enabled = v.mobile, v.mobile
	}
}

// language is the part of the address that chooses a language.
func language(v view) string {
	if v.lang == "" {
		return "?lang=en"
	}
	return "?lang=" + v.lang
}
