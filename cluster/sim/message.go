package sim

// Purpose separates the connections that one node opens to another, as Kafka's
// separate clients do: a broker's replica fetcher and its controller channel to
// the same broker are different connections.
type Purpose uint8

// Conn names a connection: who opened it, to whom, for what.
type Conn struct {
	Client, Server NodeID
	Purpose        Purpose
}

// Message is one message between two nodes.
type Message struct {
	ID        Seq // the number under which its sending was observed
	From, To  NodeID
	Conn      Conn
	Answer    bool // travels from the accepting side of the connection to the opening side
	InReplyTo Seq  // ID of the request, for an answer

	// Incarnations count the lives of a node's process. What an earlier life
	// asked for must not be delivered to a later one. Zero means any.
	FromIncarnation, ToIncarnation uint32

	ObservedAt        Time // when the step happened that sent it
	SentAt, DeliverAt Time // when it leaves the sender and when it arrives; fixed when it is sent
	Body              any  // immutable once sent
}

// LossReason says why a message was lost.
type LossReason uint8

// The reasons for a loss.
const (
	LostToCut     LossReason = iota + 1 // the link is cut
	LostToCrash                         // the receiving process died
	LostToOldLife                       // the process that asked is gone
	LostToDrop                          // dropped on demand
)

var lossReasons = [...]string{"", "cut", "crash", "old life", "drop"}

func (r LossReason) String() string { return lossReasons[r] }

// Observer is told everything that the scheduler does, as it does it.
type Observer interface {
	// Cause is the event that what happens now is an effect of.
	Cause() Seq
	// Begin is called before a step; in is valid during the step only.
	Begin(now Time, node NodeID, in *Input)
	// Sent numbers a message and tells of it.
	Sent(m *Message) Seq
	// Lost tells that a message will not arrive.
	Lost(now Time, m *Message, why LossReason)
	// Held tells that a message waits at the end of a held link; Released that it goes on.
	Held(now Time, m *Message)
	Released(now Time, m *Message)
}
