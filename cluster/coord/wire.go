package coord

import (
	"strings"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// OpKind is an operation of ZooKeeper.
type OpKind uint8

// The operations.
const (
	OpenSession OpKind = iota + 1
	CloseSession
	Ping
	Create
	Get
	Exists
	Children
	SetData
	Delete
	Check // of a version, within a Multi
	Multi
	SetWatches
)

var opNames = [...]string{"", "open session", "close session", "ping", "create", "get", "exists", "children", "set", "delete", "check", "multi", "set watches"}

// AnyVersion matches every version.
const AnyVersion int32 = -1

// Op is one operation.
type Op struct {
	Kind       OpKind
	Path       string
	Data       string
	Version    int32 // SetData, Delete, Check: AnyVersion or the version it must have
	Ephemeral  bool
	Sequential bool
	Watch      bool // leave a one-shot watch
	Ops        []Op // of a Multi
	Timeout    sim.Time
	LastZxid   int64       // SetWatches: what the client has seen
	Watches    []watchName // SetWatches
}

// Err is an error of ZooKeeper.
type Err uint8

// The errors.
const (
	OK Err = iota
	NoNode
	NodeExists
	BadVersion
	NotEmpty
	NoChildrenForEphemerals
	SessionExpired
	Aborted // another operation of the Multi failed
)

var errNames = [...]string{"ok", "no node", "node exists", "bad version", "not empty", "no children for ephemerals", "session expired", "aborted"}

func (e Err) String() string { return errNames[e] }

// Stat is what is known of a znode besides its data.
type Stat struct {
	Version int32
	Czxid   int64 // transaction that created it: a broker's epoch
	Owner   int64 // session of an ephemeral
}

// Request is an operation on its way to the server.
type Request struct {
	Session int64
	Op      Op
}

// Answer answers it.
type Answer struct {
	Kind     OpKind
	Err      Err
	Path     string // created
	Data     string
	Children []string // names, sorted
	Stat     Stat
	Session  int64 // opened
	Zxid     int64
	Events   uint64   // watch events sent before it on its connection
	Results  []Answer // of a Multi
}

// WatchKind is what a watch waits for.
type WatchKind uint8

// The kinds of watch.
const (
	WatchData     WatchKind = iota + 1 // on Get and Exists: created, changed, deleted
	WatchChildren                      // on Children: a child came or went, or the node itself
)

// WatchEvent is the one event of a watch. It says that something changed, not what.
type WatchEvent struct {
	Path string
	Kind WatchKind
	Type WatchType
	Nth  uint64 // on its connection, from 1
}

// WatchType is what happened.
type WatchType uint8

// The types of watch event.
const (
	NodeCreated WatchType = iota + 1
	NodeDataChanged
	NodeDeleted
	NodeChildrenChanged
)

var watchTypes = [...]string{"", "created", "changed", "deleted", "children changed"}

func (t WatchType) String() string { return watchTypes[t] }

type watchName struct {
	path string
	kind WatchKind
}

// KeepsAlive is the session that a request keeps alive when it arrives.
func (r *Request) KeepsAlive() int64 { return r.Session }

// Describe says what can be seen of a message.
func (r *Request) Describe(d *protocol.Description) {
	d.Kind = protocol.KindZooKeeper
	if r.Op.Kind == Ping {
		d.Kind = protocol.KindZooKeeperPing
		return
	}
	d.Text = r.Op.text()
}

func (o *Op) text() string {
	if o.Kind != Multi {
		return strings.TrimSuffix(opNames[o.Kind]+" "+o.Path, " ")
	}
	var parts []string
	for i := range o.Ops {
		parts = append(parts, o.Ops[i].text())
	}
	return "multi: " + strings.Join(parts, ", ")
}

func (a *Answer) Describe(d *protocol.Description) {
	d.Kind = protocol.KindZooKeeperAnswer
	if a.Kind == Ping {
		d.Kind = protocol.KindZooKeeperPong
		return
	}
	d.Text = opNames[a.Kind] + ": " + a.Err.String()
}

// DropClass says which drop an answer is lost to; a ping's answer is lost to none.
func (a *Answer) DropClass() uint8 {
	if a.Kind == Ping {
		return uint8(protocol.DropNothing)
	}
	return uint8(protocol.DropAnswer)
}

func (w *WatchEvent) Describe(d *protocol.Description) {
	d.Kind = protocol.KindZooKeeperWatch
	d.Text = w.Path + " " + w.Type.String()
}
