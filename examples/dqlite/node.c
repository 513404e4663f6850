/*
** One node of a cluster: dqlite, with bloom in it.
**
**     node ID ADDRESS FOLDER [LATENCY]        node 1 127.0.0.1:9001 one
**
** Every connection that dqlite opens has bloom, since it was registered before.  The node with
** ID 1 founds the cluster; join.go adds the others.  All that a node must remember is in FOLDER,
** so it may be killed at any time and started again.  LATENCY is the network's, in ms: the
** smaller it is, the sooner the others elect a leader in place of a dead one.
*/
#include <dqlite.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bloom.h"

/* Gives the status, which is 0 if the node runs. */
static int start(dqlite_node **node, char **argv){
  int status = dqlite_node_create(strtoull(argv[1], NULL, 10), argv[2], argv[3], node);
  if( status==0 ) status = dqlite_node_set_bind_address(*node, argv[2]);
  if( status==0 && argv[4] ){
    status = dqlite_node_set_network_latency_ms(*node, (unsigned)strtoul(argv[4], NULL, 10));
  }
  if( status==0 ) status = dqlite_node_start(*node);
  return status;
}

int main(int argc, char **argv){
  dqlite_node *node = NULL;
  sigset_t end;
  int signal_number, status;
  if( argc!=4 && argc!=5 ){
    fputs("usage: node ID ADDRESS FOLDER [LATENCY]\n", stderr);
    return 1;
  }
  if( mkdir(argv[3], 0700)!=0 && errno!=EEXIST ){
    fprintf(stderr, "%s: %s\n", argv[3], strerror(errno));
    return 1;
  }

  /* Blocked before dqlite has threads, for sigwait() to get them. */
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigaddset(&end, SIGINT);
  sigprocmask(SIG_BLOCK, &end, NULL);
  signal(SIGPIPE, SIG_IGN); /* A client that hangs up must not end the node. */

  /* This line is all that bloom needs. */
  if( sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init)!=SQLITE_OK ) return 1;

  status = start(&node, argv);
  if( status!=0 ){
    fprintf(stderr, "%s: the node cannot start: dqlite error %d %s\n", argv[2], status,
            node ? dqlite_node_errmsg(node) : "");
    return 1;
  }
  sigwait(&end, &signal_number);
  status = dqlite_node_stop(node);
  dqlite_node_destroy(node);
  return status!=0;
}
