package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

const slots = 16384 // of every Cluster

// StartReplica starts a replica of another server and returns when both are in
// step. The password of the options must be that of the primary.
func StartReplica(ctx context.Context, of *Server, o Options) (*Server, error) {
	host, port, err := net.SplitHostPort(of.Addr)
	if err != nil {
		return nil, err
	}
	s, err := start(ctx, o, func(int) []string { return []string{"replicaof " + host + " " + port} })
	if err != nil {
		return nil, err
	}
	if err := s.InStep(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := of.streams(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// streams waits until all replicas get what happens. With the link alone they
// do not: the primary first waits for a sign, which comes once a second, or
// when it is asked for by WAIT.
func (s *Server) streams(ctx context.Context) error {
	return until(ctx, "the primary at "+s.Addr+" does not stream to its replicas", func() bool {
		pipe := s.Admin().Pipeline()
		info := pipe.Info(ctx, "replication")
		pipe.Publish(ctx, "redistest", "something to acknowledge")
		acked := pipe.Do(ctx, "WAIT", 1<<20, 100)
		if _, err := pipe.Exec(ctx); err != nil {
			return false
		}
		n, err := acked.Int()
		return err == nil && n > 0 && strings.Contains(info.Val(), fmt.Sprintf("connected_slaves:%d\r", n))
	})
}

// InStep waits until a replica has the link to its primary.
func (s *Server) InStep(ctx context.Context) error {
	return until(ctx, "the replica at "+s.Addr+" is not in step", func() bool {
		info, err := s.Admin().Info(ctx, "replication").Result()
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
}

// StartSentinel starts a Sentinel that watches the primary under a name and
// acts alone (a quorum of one), half a second after the primary went away.
func StartSentinel(ctx context.Context, primary *Server, name string) (*Server, error) {
	host, port, err := net.SplitHostPort(primary.Addr)
	if err != nil {
		return nil, err
	}
	lines := []string{
		fmt.Sprintf("sentinel monitor %s %s %s 1", name, host, port),
		fmt.Sprintf("sentinel down-after-milliseconds %s 500", name),
		fmt.Sprintf("sentinel failover-timeout %s 2000", name),
	}
	if primary.options.Password != "" {
		lines = append(lines, fmt.Sprintf("sentinel auth-pass %s %s", name, primary.options.Password))
	}
	return start(ctx, Options{}, func(int) []string { return lines }, "--sentinel")
}

// A Cluster is a Redis Cluster of primaries without replicas.
type Cluster struct{ Nodes []*Server }

// StartCluster starts a Cluster of n nodes, each with its share of the slots,
// and returns when all agree that it stands. The caller must Close it.
func StartCluster(ctx context.Context, n int, o Options) (*Cluster, error) {
	c := &Cluster{}
	if err := c.start(ctx, n, o); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, n int, o Options) error {
	if n < 1 || o.Dir != "" {
		return fmt.Errorf("a Cluster needs at least one node, and a directory for each")
	}
	buses := make([]int, n)
	for i := range n {
		var busErr error
		node, err := start(ctx, o, func(int) []string {
			buses[i], busErr = freePort()
			return []string{"cluster-enabled yes", fmt.Sprintf("cluster-port %d", buses[i])}
		})
		if err = errors.Join(err, busErr); err != nil {
			return err
		}
		c.Nodes = append(c.Nodes, node)
		from, to := i*slots/n, (i+1)*slots/n-1
		if err := node.Admin().Do(ctx, "CLUSTER", "ADDSLOTSRANGE", from, to).Err(); err != nil {
			return err
		}
		if err := node.Admin().Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return err
		}
		host, port, _ := net.SplitHostPort(node.Addr)
		if err := c.Nodes[0].Admin().Do(ctx, "CLUSTER", "MEET", host, port, buses[i]).Err(); err != nil {
			return err
		}
	}
	return c.Stands(ctx)
}

// Stands waits until every node sees the whole Cluster.
func (c *Cluster) Stands(ctx context.Context) error {
	want := fmt.Sprintf("cluster_known_nodes:%d\r", len(c.Nodes))
	for _, node := range c.Nodes {
		err := until(ctx, "the Cluster does not stand at "+node.Addr, func() bool {
			info, err := node.Admin().ClusterInfo(ctx).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, want)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Addrs returns the addresses of all nodes.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, node := range c.Nodes {
		addrs = append(addrs, node.Addr)
	}
	return addrs
}

// Close kills all nodes and removes their directories.
func (c *Cluster) Close() error {
	var errs []error
	for _, node := range c.Nodes {
		errs = append(errs, node.Close())
	}
	return errors.Join(errs...)
}

// until asks every 10 ms until the answer is yes.
func until(ctx context.Context, complaint string, yes func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for !yes() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", complaint, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
