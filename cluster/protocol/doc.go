// Package protocol is Kafka's vocabulary: ids, offsets, epochs, records,
// requests and their answers, the error table, the configuration keys, and in
// rules.go the one table that says how each release line behaves.
//
// Offsets that bound something are exclusive, as in Kafka: the log end offset
// (LEO) is the offset the next record will get, the high watermark (HW) the
// first offset that is not committed.
package protocol
