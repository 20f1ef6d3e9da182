package coord

import (
	"reflect"
	"testing"

	"tidemark/cluster/protocol"
)

func TestReassignmentIsReadAsWritten(t *testing.T) {
	tp := protocol.TopicPartition{Topic: "topic1", Index: 1}
	l := []Reassignment{{tp, []protocol.Broker{4, 2}}, {protocol.TopicPartition{Topic: "x"}, []protocol.Broker{1}}}
	const want = `{"version":1,"partitions":[{"topic":"topic1","partition":1,"replicas":[4,2]},{"topic":"x","partition":0,"replicas":[1]}]}`
	if have := EncodeReassignment(l); have != want {
		t.Errorf("written as %s", have)
	}
	if have := DecodeReassignment(want); !reflect.DeepEqual(have, l) {
		t.Errorf("read as %v", have)
	}
	for _, bad := range []string{"", "{", `{"partitions":[{"topic":"x","partition":0,"replicas":[]}]}`, `{"partitions":[{"topic":"x","partition":0,"replicas":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]}]}`} {
		if have := DecodeReassignment(bad); have != nil {
			t.Errorf("%q is read as %v", bad, have)
		}
	}
}
