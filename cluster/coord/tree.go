package coord

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// tree is the data of ZooKeeper. Every change has a transaction number (zxid).
type tree struct {
	zxid  int64
	nodes []znode // by path; the root is not kept
}

type znode struct {
	path                string
	data                string
	version             int32
	czxid, mzxid, pzxid int64
	owner               int64 // session of an ephemeral
	created             int64 // children ever created: the sequence counter
}

// change is an effect of a transaction, for watches and for the observer.
type change struct {
	path string
	kind WatchType // created, changed or deleted
}

func (t *tree) find(path string) *znode {
	i, ok := t.index(path)
	if !ok {
		return nil
	}
	return &t.nodes[i]
}

func (t *tree) index(path string) (int, bool) {
	return slices.BinarySearchFunc(t.nodes, path, func(z znode, p string) int { return cmp.Compare(z.path, p) })
}

func parent(path string) string { return path[:strings.LastIndexByte(path, '/')] }

// children lists the names of a node's children, sorted.
func (t *tree) children(path string) []string {
	var names []string
	prefix := path + "/"
	i, _ := t.index(prefix)
	for ; i < len(t.nodes) && strings.HasPrefix(t.nodes[i].path, prefix); i++ {
		if name := t.nodes[i].path[len(prefix):]; !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names
}

// apply does one write under the current zxid. On an error nothing is changed.
func (t *tree) apply(op *Op, session int64) (Answer, []change) {
	a := Answer{Kind: op.Kind}
	fail := func(e Err) (Answer, []change) { a.Err = e; return a, nil }
	switch op.Kind {
	case Create:
		up := parent(op.Path)
		p := t.find(up)
		if up != "" && p == nil {
			return fail(NoNode)
		}
		if p != nil && p.owner != 0 {
			return fail(NoChildrenForEphemerals)
		}
		path := op.Path
		if op.Sequential {
			path = fmt.Sprintf("%s%010d", path, p.created)
		}
		i, exists := t.index(path)
		if exists {
			a.Stat = t.nodes[i].stat()
			return fail(NodeExists)
		}
		if p != nil {
			p.created++
			p.pzxid = t.zxid
		}
		z := znode{path: path, data: op.Data, czxid: t.zxid, mzxid: t.zxid, pzxid: t.zxid}
		if op.Ephemeral {
			z.owner = session
		}
		t.nodes = slices.Insert(t.nodes, i, z)
		a.Path, a.Stat = path, z.stat()
		return a, []change{{path, NodeCreated}}
	case SetData:
		z := t.find(op.Path)
		if z == nil {
			return fail(NoNode)
		}
		if op.Version != AnyVersion && op.Version != z.version {
			return fail(BadVersion)
		}
		z.data, z.mzxid = op.Data, t.zxid
		z.version++
		a.Stat = z.stat()
		return a, []change{{op.Path, NodeDataChanged}}
	case Delete:
		i, ok := t.index(op.Path)
		if !ok {
			return fail(NoNode)
		}
		if op.Version != AnyVersion && op.Version != t.nodes[i].version {
			return fail(BadVersion)
		}
		if len(t.children(op.Path)) > 0 {
			return fail(NotEmpty)
		}
		t.nodes = slices.Delete(t.nodes, i, i+1)
		if p := t.find(parent(op.Path)); p != nil {
			p.pzxid = t.zxid
		}
		return a, []change{{op.Path, NodeDeleted}}
	case Check:
		z := t.find(op.Path)
		if z == nil {
			return fail(NoNode)
		}
		if op.Version != AnyVersion && op.Version != z.version {
			return fail(BadVersion)
		}
		return a, nil
	}
	panic("coord: " + opNames[op.Kind] + " is not a write")
}

// multi does all or nothing.
func (t *tree) multi(op *Op, session int64) (Answer, []change) {
	a := Answer{Kind: Multi, Results: make([]Answer, len(op.Ops))}
	before := slices.Clone(t.nodes)
	var changes []change
	for i := range op.Ops {
		r, c := t.apply(&op.Ops[i], session)
		a.Results[i] = r
		if r.Err != OK {
			t.nodes = before
			a.Err = r.Err
			for k := range a.Results {
				if k != i {
					a.Results[k] = Answer{Kind: op.Ops[k].Kind, Err: Aborted}
				}
			}
			return a, nil
		}
		changes = append(changes, c...)
	}
	return a, changes
}

func (z *znode) stat() Stat { return Stat{Version: z.version, Czxid: z.czxid, Owner: z.owner} }
