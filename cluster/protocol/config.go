package protocol

// Config is how a cluster behaves. Its nodes share one and only read it; it changes
// between steps.
type Config struct {
	Rules    *Rules
	Settings *Settings
	Catalog  *Catalog
	Values   *Values // producers add to it
	Brokers  Brokers // all of the cluster: where clients begin to ask
}
