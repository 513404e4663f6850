// Adds nodes to a cluster, each with a vote:
//
//	join MEMBER ID ADDRESS [ID ADDRESS ...]       join 127.0.0.1:9001 2 127.0.0.1:9002
//
// MEMBER is the address of any node that is in the cluster.
package main

import (
	"context"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/canonical/go-dqlite/client"
)

func main() {
	if len(os.Args) < 4 || len(os.Args)%2 != 0 {
		log.Fatal("usage: join MEMBER ID ADDRESS [ID ADDRESS ...]")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	members := client.NewInmemNodeStore()
	members.Set(ctx, []client.NodeInfo{{Address: os.Args[1]}})
	leader, err := client.FindLeader(ctx, members)
	if err != nil {
		log.Fatal(err)
	}
	for i := 2; i < len(os.Args); i += 2 {
		id, err := strconv.ParseUint(os.Args[i], 10, 64)
		if err == nil {
			err = leader.Add(ctx, client.NodeInfo{ID: id, Address: os.Args[i+1], Role: client.Voter})
		}
		if err != nil {
			log.Fatalf("%s: %v", os.Args[i+1], err)
		}
	}
}
