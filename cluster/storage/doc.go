// Package storage is what a broker keeps on its machine: logs, their leader epoch
// caches, and the checkpoint file of high watermarks.
//
// A [Disk] outlives the broker's process. An append goes to the page cache, that is
// into the log above its Flushed offset: a process crash keeps it, a power cut does
// not. The operating system writes pages back by age; a broker flushes only when it
// is told to or when it shuts down.
package storage
