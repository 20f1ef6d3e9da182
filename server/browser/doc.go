// Package browser has the tests of the whole application as a visitor has it: a real
// Chromium opens the pages of a real server and clicks. There is no other code in it.
//
// The tests need Chromium, and one of them axe-core; what is missing is skipped, or fails
// when TIDEMARK_REQUIRE_ALL is set. They wait for conditions, each with a deadline.
package browser
