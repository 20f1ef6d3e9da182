package protocol

import (
	"fmt"
	"slices"
)

// DropClass is a class of messages of which a person can let the next one be lost.
type DropClass uint8

// The classes. An answer is one to a client, a fetcher, the controller, or from
// ZooKeeper; answers to metadata requests and pings are none: they belong to nothing
// that a person did.
const (
	DropNothing DropClass = iota
	DropAnswer
	DropFetch
	DropControl // LeaderAndIsr, UpdateMetadata or StopReplica
	DropClasses // how many there are
)

var dropClasses = [...]string{"", "answer", "fetch", "control"}

func (c DropClass) String() string { return dropClasses[c] }

// ParseDropClass reads a class by its name.
func ParseDropClass(name string) (DropClass, error) {
	if i := slices.Index(dropClasses[:], name); i > 0 {
		return DropClass(i), nil
	}
	return DropNothing, fmt.Errorf("protocol: answer, fetch or control can be dropped, not %q", name)
}

// DropClass says which drop a message is lost to.
func (*ProduceAnswer) DropClass() uint8 { return uint8(DropAnswer) }

// DropClass says which drop a message is lost to.
func (*FetchAnswer) DropClass() uint8 { return uint8(DropAnswer) }

// DropClass says which drop a message is lost to.
func (*EpochAnswer) DropClass() uint8 { return uint8(DropAnswer) }

// DropClass says which drop a message is lost to.
func (*OffsetsAnswer) DropClass() uint8 { return uint8(DropAnswer) }

// DropClass says which drop a message is lost to.
func (*ControlAnswer) DropClass() uint8 { return uint8(DropAnswer) }

// DropClass says which drop a message is lost to.
func (*ControlledShutdownAnswer) DropClass() uint8 { return uint8(DropAnswer) }

// DropClass says which drop a message is lost to.
func (*Fetch) DropClass() uint8 { return uint8(DropFetch) }

// DropClass says which drop a message is lost to.
func (*LeaderAndISR) DropClass() uint8 { return uint8(DropControl) }

// DropClass says which drop a message is lost to.
func (*UpdateMetadata) DropClass() uint8 { return uint8(DropControl) }

// DropClass says which drop a message is lost to.
func (*StopReplica) DropClass() uint8 { return uint8(DropControl) }
