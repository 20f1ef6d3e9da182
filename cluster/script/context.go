package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
)

// Context is what a statement can name: the brokers, partitions, clients and marks
// that there are. A nil *Context knows nothing and lets every name pass, which is
// enough to print a statement canonically.
type Context struct {
	brokers    []protocol.Broker
	assumed    bool // brokers come from assignments, no brokers line has been read
	partitions []cluster.AddPartition
	producers  []string
	readers    []string
	marks      map[string]*Context // what there was when the mark was made
	values     map[string]bool     // sent; nil when the cluster keeps count
	running    bool                // the cluster has been made
	anyLine    bool                // the release line is decided elsewhere
}

func newContext() *Context {
	return &Context{assumed: true, marks: map[string]*Context{}, values: map[string]bool{}}
}

func (c *Context) clone() *Context {
	d := *c
	d.brokers = slices.Clone(c.brokers)
	d.partitions = slices.Clone(c.partitions)
	d.producers = slices.Clone(c.producers)
	d.readers = slices.Clone(c.readers)
	d.values = maps.Clone(c.values)
	d.marks = maps.Clone(c.marks)
	return &d
}

func (c *Context) topics() []string {
	var l []string
	for _, p := range c.partitions {
		if !slices.Contains(l, p.Partition.Topic) {
			l = append(l, p.Partition.Topic)
		}
	}
	return l
}

func (c *Context) brokerNames() []string {
	var l []string
	for _, b := range c.brokers {
		l = append(l, strconv.Itoa(int(b)))
	}
	return l
}

func (c *Context) partitionNames() []string {
	var l []string
	for _, p := range c.partitions {
		l = append(l, p.Partition.String())
	}
	return l
}

func (c *Context) nodeNames() []string {
	return append(append(append(c.brokerNames(), "zookeeper", "zk"), c.producers...), c.readers...)
}

func (c *Context) partition(tp protocol.TopicPartition) (cluster.AddPartition, bool) {
	for _, p := range c.partitions {
		if p.Partition == tp {
			return p, true
		}
	}
	return cluster.AddPartition{}, false
}

// missing says that a name is none of those that there are.
func missing(what, name string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("there is no %s %s; none has been made yet", what, name)
	}
	return fmt.Sprintf("there is no %s %s, expected %s; the nearest valid word is %q", what, name, join(names), nearest(name, names))
}

// declare takes note of what a statement makes.
func (c *Context) declare(cmd cluster.Command) {
	switch x := cmd.(type) {
	case cluster.AddPartition:
		c.partitions = append(c.partitions, x)
		if c.assumed && !c.running {
			for _, b := range x.Replicas {
				if !slices.Contains(c.brokers, b) {
					c.brokers = append(c.brokers, b)
				}
			}
			slices.Sort(c.brokers)
		}
	case cluster.AddProducer:
		c.producers = append(c.producers, x.Name)
	case cluster.AddReader:
		c.readers = append(c.readers, x.Name)
	case cluster.Send:
		if c.values != nil {
			for _, v := range x.Values {
				c.values[v] = true
			}
		}
	}
}

// checkPartition says whether a partition can be made, checkClient whether a client
// can have a name.
func (c *Context) checkPartition(x cluster.AddPartition) error {
	if _, ok := c.partition(x.Partition); ok {
		return fmt.Errorf("there is a partition %s already", x.Partition)
	}
	if len(c.partitions) >= protocol.MaxPartitions {
		return fmt.Errorf("a cluster has at most %d partitions", protocol.MaxPartitions)
	}
	return nil
}

func (c *Context) checkClient(name string) error {
	if slices.Contains(c.producers, name) || slices.Contains(c.readers, name) {
		return fmt.Errorf("there is a client %s already", name)
	}
	if name == "zookeeper" || name == "zk" || reserved[name] {
		return fmt.Errorf("%q is a word of the language and cannot be a name", name)
	}
	if slices.Contains(c.topics(), name) {
		return errors.New("a topic has that name")
	}
	return nil
}
