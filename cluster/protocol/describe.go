package protocol

import "strconv"

// part adds a part about one partition with nothing known but its name.
func (d *Description) part(p Partition) *PartitionDescription {
	d.Partitions = append(d.Partitions, PartitionDescription{Partition: p, Offset: NoOffset, HW: NoOffset, Epoch: NoEpoch, Producer: NoProducerID})
	return &d.Partitions[len(d.Partitions)-1]
}

// Describe methods say what of each body can be shown.
func (r *Produce) Describe(d *Description) {
	d.Kind, d.Acks = KindProduce, r.Acks
	p := d.part(r.Partition)
	p.Count, p.Producer, p.Sequence = len(r.Values), r.Producer, r.Sequence
	for _, v := range r.Values {
		p.Records = append(p.Records, Record{Value: v, Epoch: NoEpoch})
	}
}

func (r *ProduceAnswer) Describe(d *Description) {
	d.Kind, d.Error = KindProduceAnswer, r.Error
	p := d.part(r.Partition)
	p.Error, p.Offset = r.Error, r.BaseOffset
}

func (r *Fetch) Describe(d *Description) {
	d.Kind = KindFetch
	for i := range r.Partitions {
		p := d.part(r.Partitions[i].Partition)
		p.Offset, p.Epoch = r.Partitions[i].Offset, r.Partitions[i].LeaderEpoch
	}
}

func (r *FetchAnswer) Describe(d *Description) {
	d.Kind = KindFetchAnswer
	for i := range r.Partitions {
		a := &r.Partitions[i]
		p := d.part(a.Partition)
		p.Error, p.HW, p.Offset, p.Count, p.Records = a.Error, a.HW, a.Offset, len(a.Records), a.Records
		if a.Error != None {
			d.Error = a.Error
		}
	}
}

func (r *EpochRequest) Describe(d *Description) {
	d.Kind = KindEpoch
	for i := range r.Partitions {
		d.part(r.Partitions[i].Partition).Epoch = r.Partitions[i].Epoch
	}
}

func (r *EpochAnswer) Describe(d *Description) {
	d.Kind = KindEpochAnswer
	for i := range r.Partitions {
		a := &r.Partitions[i]
		p := d.part(a.Partition)
		p.Error, p.Epoch, p.Offset = a.Error, a.Epoch, a.EndOffset
		if a.Error != None {
			d.Error = a.Error
		}
	}
}

func (r *OffsetsRequest) Describe(d *Description) {
	d.Kind = KindOffsets
	d.part(r.Partition).Epoch = r.LeaderEpoch
}

func (r *OffsetsAnswer) Describe(d *Description) {
	d.Kind, d.Error = KindOffsetsAnswer, r.Error
	p := d.part(r.Partition)
	p.Error, p.Offset = r.Error, r.Offset
}

func (r *MetadataRequest) Describe(d *Description) { d.Kind = KindMetadata }

func (r *MetadataAnswer) Describe(d *Description) {
	d.Kind = KindMetadataAnswer
	for i := range r.Partitions {
		a := &r.Partitions[i]
		p := d.part(a.Partition)
		p.Error, p.Leader, p.Epoch, p.ISR = a.Error, a.Leader, a.LeaderEpoch, a.ISR
	}
}

func (r *InitProducerID) Describe(d *Description) { d.Kind = KindInitProducerID }

func (r *InitProducerIDAnswer) Describe(d *Description) {
	d.Kind, d.Text = KindInitProducerIDAnswer, "producer id "+strconv.FormatInt(int64(r.Producer), 10)
}

func (r *LeaderAndISR) Describe(d *Description) {
	d.Kind, d.Epoch = KindLeaderAndISR, r.ControllerEpoch
	d.states(r.Partitions)
}

func (r *UpdateMetadata) Describe(d *Description) {
	d.Kind, d.Epoch = KindUpdateMetadata, r.ControllerEpoch
	d.states(r.Partitions)
}

func (d *Description) states(states []PartitionState) {
	for i := range states {
		p := d.part(states[i].Partition)
		p.Leader, p.Epoch, p.ISR = states[i].Leader, states[i].LeaderEpoch, states[i].ISR
	}
}

func (r *StopReplica) Describe(d *Description) {
	d.Kind, d.Epoch = KindStopReplica, r.ControllerEpoch
	for _, p := range r.Partitions {
		d.part(p)
	}
}

func (r *ControlAnswer) Describe(d *Description) { d.Kind, d.Error = r.Kind, r.Error }

func (r *ControlledShutdown) Describe(d *Description) { d.Kind = KindControlledShutdown }

func (r *ControlledShutdownAnswer) Describe(d *Description) {
	d.Kind, d.Error = KindControlledShutdownAnswer, r.Error
	for _, p := range r.Remaining {
		d.part(p)
	}
}
