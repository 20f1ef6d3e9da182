package storage

import (
	"cmp"
	"slices"

	"tidemark/cluster/protocol"
)

// Disk is a machine's disk.
type Disk struct {
	Logs []*Log // by partition
	// Checkpoints is the file of high watermarks (replication-offset-checkpoint). It is
	// written whole and atomically, and safe once written.
	Checkpoints []Checkpoint
	// Slow is how much longer than usual an append takes, in microseconds.
	Slow int64
}

// Checkpoint is one line of the file.
type Checkpoint struct {
	Partition protocol.Partition
	HW        protocol.Offset
}

// Log finds the log of a partition, or nil.
func (d *Disk) Log(p protocol.Partition) *Log {
	for _, l := range d.Logs {
		if l.Partition == p {
			return l
		}
	}
	return nil
}

// Create makes an empty log.
func (d *Disk) Create(p protocol.Partition) *Log {
	l := &Log{Partition: p}
	i, _ := slices.BinarySearchFunc(d.Logs, p, func(l *Log, p protocol.Partition) int { return cmp.Compare(l.Partition, p) })
	d.Logs = slices.Insert(d.Logs, i, l)
	return l
}

// Delete drops the log of a partition, and its line of the checkpoint file.
func (d *Disk) Delete(p protocol.Partition) {
	d.Logs = slices.DeleteFunc(d.Logs, func(l *Log) bool { return l.Partition == p })
	d.Checkpoints = slices.DeleteFunc(slices.Clone(d.Checkpoints), func(c Checkpoint) bool { return c.Partition == p })
}

// HW is the checkpointed high watermark, or NoOffset when the file has none.
func (d *Disk) HW(p protocol.Partition) protocol.Offset {
	for _, c := range d.Checkpoints {
		if c.Partition == p {
			return c.HW
		}
	}
	return protocol.NoOffset
}

// Clone is a disk with the same content; records are shared.
func (d *Disk) Clone() Disk {
	c := Disk{Logs: make([]*Log, len(d.Logs)), Checkpoints: slices.Clone(d.Checkpoints), Slow: d.Slow}
	for i, l := range d.Logs {
		c.Logs[i] = l.clone()
	}
	return c
}
