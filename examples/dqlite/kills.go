// Shows: a cluster of three nodes loses nothing and gives no wrong "no", while its nodes are
// killed again and again while clients go on writing and testing.
//
//	kills NODE FOLDER ROUNDS        kills ./node build/dqlite/nodes 30
//
// NODE is the program made of node.c.  A row and its filters change in one transaction, in two
// ways: the transaction adds the key to a filter in a table, and a virtual table follows the
// rows by itself.  Run it where ./bloom is: the sqlite3 shell loads it, to look into the copies
// that the nodes have.  BLOOM_TEST_SEED=N repeats the choices, though not the threads' race.
// The last line is `N passed, N failed`.
package main

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/canonical/go-dqlite/client"
	"github.com/canonical/go-dqlite/driver"
)

const (
	numNodes   = 3
	numUsers   = 50000 // at the start
	numWriters = 3
	numAskers  = 2

	addUser     = "INSERT INTO users VALUES (?)"
	addToFilter = "UPDATE filters SET filter = bloom_add(filter, ?) WHERE name = 'users'"
	// Builds it again, in one statement that takes a while; with room for all that this program adds.
	buildFilter = `
INSERT OR REPLACE INTO filters SELECT 'users', bloom_build(email, 10, 100000, 'parquet') FROM users`

	// Three answers for one address: the table's, the filter's, the virtual table's.
	askForUser = `
SELECT (SELECT count(*) FROM users WHERE email = ?),
       (SELECT bloom_may_contain(filter, ?) FROM filters WHERE name = 'users'),
       (SELECT count(*) FROM user_emails(?))`

	// One count three times: without a filter, with this one, with that one.
	countVisits = `
SELECT (SELECT count(*) FROM visits v JOIN users u ON u.email = v.email),
       (SELECT count(*) FROM visits v JOIN users u ON u.email = v.email
         WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'users'), v.email)),
       (SELECT count(*) FROM visits v JOIN users u ON u.email = v.email
         WHERE bloom_may_contain((SELECT handle FROM user_emails), v.email))`

	// Users whom either filter misses; 0 if all is well.
	countMissed = `
SELECT (SELECT count(*) FROM users WHERE
         bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'users'), email) IS NOT 1),
       (SELECT count(*) FROM users WHERE
         bloom_may_contain((SELECT handle FROM user_emails), email) IS NOT 1)`
)

var setUp = []string{
	"CREATE TABLE users(email TEXT PRIMARY KEY)",
	"CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB)",
	"CREATE TABLE visits(email TEXT)",
	fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO users SELECT 'early ' || i FROM n`, numUsers),
	// One visitor of ten is a user: a thousand.
	`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
		INSERT INTO visits SELECT CASE WHEN i % 10 = 0 THEN 'early ' ELSE 'stranger ' END || i FROM n`,
	"CREATE VIRTUAL TABLE user_emails USING bloom(users, email)",
	buildFilter,
}

// -- The nodes ---------------------------------------------------------------

type cluster struct {
	program, folder string
	addresses       [numNodes]string
	processes       [numNodes]*exec.Cmd
	members         client.NodeStore
	numCrashes      int
}

func (c *cluster) start(nodes ...int) {
	for _, i := range nodes {
		// Latency 20 ms: the next leader is elected within a second, not within six.
		process := exec.Command(c.program, strconv.Itoa(i+1), c.addresses[i],
			filepath.Join(c.folder, strconv.Itoa(i+1)), "20")
		process.Stderr = os.Stderr
		process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // no node outlives this program
		if err := process.Start(); err != nil {
			log.Fatal(err)
		}
		c.processes[i] = process
	}
}

// SIGKILL, so that no node can clean up.
func (c *cluster) kill(nodes ...int) {
	for _, i := range nodes {
		c.processes[i].Process.Kill()
	}
	for _, i := range nodes {
		c.processes[i].Wait()
		status := c.processes[i].ProcessState.Sys().(syscall.WaitStatus)
		if !status.Signaled() || status.Signal() != syscall.SIGKILL {
			fmt.Printf("node %d had ended by itself: %v\n", i+1, c.processes[i].ProcessState)
			c.numCrashes++
		}
	}
}

// A new cluster: the first node founds it, and adds the others.
func (c *cluster) found() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var members []client.NodeInfo
	for i := range c.addresses {
		listener, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
		if err != nil {
			log.Fatal(err)
		}
		defer listener.Close()
		c.addresses[i] = listener.Addr().String()
		members = append(members, client.NodeInfo{ID: uint64(i + 1), Address: c.addresses[i], Role: client.Voter})
		listener.Close()
	}
	c.members = client.NewInmemNodeStore()
	c.members.Set(ctx, members)
	c.start(0, 1, 2)
	_, leader := c.leader()
	defer leader.Close()
	for _, member := range members[1:] {
		if err := leader.Add(ctx, member); err != nil {
			log.Fatal(err)
		}
	}
}

// The leader and a connection to it, as soon as there is one.
func (c *cluster) leader() (int, *client.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		leader, err := client.FindLeader(ctx, c.members, client.WithLogFunc(logNothing))
		if err != nil {
			log.Fatal("no leader: ", err)
		}
		node, err := leader.Leader(ctx)
		if err == nil && node.ID != 0 {
			return int(node.ID) - 1, leader
		}
		leader.Close()
	}
}

func logNothing(client.LogLevel, string, ...interface{}) {}

// What the sqlite3 shell says about the copy of the database that a node has.  Any node gives
// its copy away, not the leader alone.
func (c *cluster) lookInto(i int, sql string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	node, err := client.New(ctx, c.addresses[i], client.WithLogFunc(logNothing))
	if err != nil {
		return err.Error()
	}
	defer node.Close()
	files, err := node.Dump(ctx, "app") // the database and its WAL
	if err != nil {
		return err.Error()
	}
	for _, file := range files {
		if err := os.WriteFile(filepath.Join(c.folder, file.Name), file.Data, 0600); err != nil {
			log.Fatal(err)
		}
	}
	output, err := exec.Command("sqlite3", "-batch", filepath.Join(c.folder, "app"), ".load ./bloom", sql).CombinedOutput()
	if err != nil {
		return fmt.Sprint(err, string(output))
	}
	return strings.TrimSpace(string(output))
}

// A node that follows, or has just been started, lags behind.
func (c *cluster) waitForRows(i, numRows int) {
	waitUntil(fmt.Sprintf("node %d has caught up", i+1), func() bool {
		numThere, err := strconv.Atoi(c.lookInto(i, "SELECT count(*) FROM users"))
		return err == nil && numThere >= numRows
	})
}

// -- The clients -------------------------------------------------------------

type clients struct {
	db   *sql.DB
	stop chan struct{}
	done sync.WaitGroup

	mutex        sync.Mutex
	acknowledged []string // COMMIT succeeded
	unknown      []string // COMMIT was sent, and failed
	refused      []string // COMMIT was not sent

	// The rest by atomic operations.
	inTransaction, inBuild, inJoin    int32 // wait for an answer
	numBuilds, numJoins, numErrors    int32
	numAsked, numStrangers, numPassed int32
	numWrongNo, numWrongCounts        int32
}

func (c *clients) numAcknowledged() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.acknowledged)
}

// One user more, in the table and in the filter, or in neither.
func (c *clients) insert(ctx context.Context, conn *sql.Conn, email string) error {
	atomic.AddInt32(&c.inTransaction, 1)
	defer atomic.AddInt32(&c.inTransaction, -1)
	outcome := &c.refused
	tx, err := conn.BeginTx(ctx, nil)
	if err == nil {
		if err = changeOne(tx, addUser, email); err == nil {
			err = changeOne(tx, addToFilter, email)
		}
		if err != nil {
			tx.Rollback()
		} else if err = tx.Commit(); err != nil {
			outcome = &c.unknown
		} else {
			outcome = &c.acknowledged
		}
	}
	c.mutex.Lock()
	*outcome = append(*outcome, email)
	c.mutex.Unlock()
	return err
}

func changeOne(tx *sql.Tx, statement, email string) error {
	result, err := tx.Exec(statement, email)
	if err != nil {
		return err
	}
	if changed, _ := result.RowsAffected(); changed != 1 {
		return fmt.Errorf("%s: %d rows changed", statement, changed)
	}
	return nil
}

func (c *clients) build(ctx context.Context, conn *sql.Conn) error {
	time.Sleep(50 * time.Millisecond)
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err // a writer was there first
	}
	atomic.AddInt32(&c.inBuild, 1)
	defer atomic.AddInt32(&c.inBuild, -1)
	_, err := conn.ExecContext(ctx, buildFilter)
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err == nil {
		atomic.AddInt32(&c.numBuilds, 1)
	}
	return err
}

func (c *clients) join(ctx context.Context, conn *sql.Conn) error {
	time.Sleep(50 * time.Millisecond)
	atomic.AddInt32(&c.inJoin, 1)
	defer atomic.AddInt32(&c.inJoin, -1)
	var plain, filtered, followed int
	err := conn.QueryRowContext(ctx, countVisits).Scan(&plain, &filtered, &followed)
	if err == nil {
		atomic.AddInt32(&c.numJoins, 1)
		if plain != 1000 || filtered != plain || followed != plain {
			fmt.Printf("a join gave %d rows, with filters %d and %d\n", plain, filtered, followed)
			atomic.AddInt32(&c.numWrongCounts, 1)
		}
	}
	return err
}

// Looks up a user who was acknowledged, and a stranger.
func (c *clients) lookUp(ctx context.Context, conn *sql.Conn) error {
	email := fmt.Sprint("early ", 1+rand.Intn(numUsers))
	c.mutex.Lock()
	if n := len(c.acknowledged); n > 0 {
		email = c.acknowledged[rand.Intn(n)]
	}
	c.mutex.Unlock()
	var inTable, inFilter, inVirtualTable int32
	err := conn.QueryRowContext(ctx, askForUser, email, email, email).Scan(&inTable, &inFilter, &inVirtualTable)
	if err != nil {
		return err
	}
	atomic.AddInt32(&c.numAsked, 1)
	if inTable != 1 || inFilter != 1 || inVirtualTable != 1 {
		fmt.Printf("%s: %d in the table, %d by the filter, %d by the virtual table\n",
			email, inTable, inFilter, inVirtualTable)
		atomic.AddInt32(&c.numWrongNo, 1)
	}
	email = fmt.Sprint("stranger ", rand.Int63())
	err = conn.QueryRowContext(ctx, askForUser, email, email, email).Scan(&inTable, &inFilter, &inVirtualTable)
	if err == nil {
		atomic.AddInt32(&c.numStrangers, 1)
		atomic.AddInt32(&c.numPassed, inFilter)
	}
	return err
}

// Does the work again and again, until all clients are to stop.  After an error it goes on with
// a new connection: the old one may lead to a node that leads no more.
func (c *clients) run(work func(ctx context.Context, conn *sql.Conn) error) {
	var conn *sql.Conn
	once := func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		var err error
		if conn == nil {
			conn, err = c.db.Conn(ctx)
		}
		if err == nil {
			if err = work(ctx, conn); err != nil {
				conn.Raw(func(interface{}) error { return sqldriver.ErrBadConn }) // closes it
				conn = nil
			}
		}
		if err != nil {
			atomic.AddInt32(&c.numErrors, 1)
			time.Sleep(time.Duration(rand.Intn(20)) * time.Millisecond)
		}
	}
	c.done.Add(1)
	go func() {
		defer c.done.Done()
		for {
			select {
			case <-c.stop:
				return
			default:
				once()
			}
		}
	}()
}

func (c *clients) runAll() {
	c.stop = make(chan struct{})
	for w := 0; w < numWriters; w++ {
		w, i := w, 0
		c.run(func(ctx context.Context, conn *sql.Conn) error {
			i++
			return c.insert(ctx, conn, fmt.Sprintf("user %d of writer %d", i, w))
		})
	}
	for a := 0; a < numAskers; a++ {
		c.run(c.lookUp)
	}
	c.run(c.build)
	c.run(c.join)
}

// Waits until this is so; ends the program where it does not come.
func waitUntil(what string, isSo func() bool) {
	for end := time.Now().Add(time.Minute); !isSo(); time.Sleep(time.Millisecond / 2) {
		if time.Now().After(end) {
			log.Fatal("waited a minute in vain until ", what)
		}
	}
}

// -- The test ----------------------------------------------------------------

var numPassed, numFailed int

func check(what string, isTrue bool) {
	if isTrue {
		numPassed++
	} else {
		numFailed++
		fmt.Println("FAILED:", what)
	}
}

// After all clients have stopped: what the nodes say, each from its copy and each as the leader.
func (c *cluster) checkAll(when string, clients *clients) {
	writeList := func(name string, list []string) string {
		text, _ := json.Marshal(list)
		path := filepath.Join(c.folder, name)
		if err := os.WriteFile(path, text, 0600); err != nil {
			log.Fatal(err)
		}
		return path
	}
	acknowledged := writeList("acknowledged", clients.acknowledged)
	refused := writeList("refused", clients.refused)
	lostOrUndone := fmt.Sprintf(`
SELECT (SELECT count(*) FROM json_each(readfile('%s')) WHERE value NOT IN (SELECT email FROM users)),
       (SELECT count(*) FROM json_each(readfile('%s')) WHERE value IN (SELECT email FROM users))`,
		acknowledged, refused)

	numRows := -1
	waitUntil("a leader answers", func() bool {
		return clients.db.QueryRow("SELECT count(*) FROM users").Scan(&numRows) == nil
	})
	for i := range c.addresses {
		c.waitForRows(i, numRows)
		node := fmt.Sprintf("%s, the copy of node %d: ", when, i+1)
		check(node+"it is whole", c.lookInto(i, "PRAGMA integrity_check") == "ok")
		check(node+"its filters miss no user", c.lookInto(i, countMissed) == "0|0")
		check(node+"no acknowledged insert is missing, no refused one is there", c.lookInto(i, lostOrUndone) == "0|0")
	}
	for i := range c.addresses {
		waitUntil("leadership is transferred", func() bool {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			leads, leader := c.leader()
			defer leader.Close()
			if leads != i {
				leader.Transfer(ctx, uint64(i+1))
			}
			return leads == i
		})
		inFilter, inVirtualTable, leads := -1, -1, -1
		waitUntil("the new leader answers", func() bool {
			return clients.db.QueryRow(countMissed).Scan(&inFilter, &inVirtualTable) == nil
		})
		leads, leader := c.leader()
		leader.Close()
		check(fmt.Sprintf("%s, node %d leads: its filters miss no user", when, i+1),
			inFilter == 0 && inVirtualTable == 0 && leads == i)
	}
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: kills NODE FOLDER ROUNDS")
	}
	numRounds, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	seed, err := strconv.ParseInt(os.Getenv("BLOOM_TEST_SEED"), 10, 64)
	if err != nil {
		seed = time.Now().UnixNano() % 1000000
	}
	rand.Seed(seed)
	fmt.Println("note: seed", seed)
	runtime.LockOSThread() // nodes die with the thread that started them
	c := &cluster{program: os.Args[1], folder: os.Args[2]}
	os.RemoveAll(c.folder)
	if err := os.MkdirAll(c.folder, 0700); err != nil {
		log.Fatal(err)
	}
	c.found()
	dqlite, err := driver.New(c.members, driver.WithLogFunc(logNothing))
	if err != nil {
		log.Fatal(err)
	}
	sql.Register("dqlite", dqlite)
	db, err := sql.Open("dqlite", "app")
	if err != nil {
		log.Fatal(err)
	}
	for _, statement := range setUp {
		if _, err := db.Exec(statement); err != nil {
			log.Fatalf("%s: %v", statement, err)
		}
	}
	clients := &clients{db: db}
	c.checkAll("at first", clients)

	// Each round waits for work of one kind, and kills right in it.
	clients.runAll()
	var struck struct{ transactions, builds, joins int32 }
	var numLeaders, numFollowers, numPairs, numAllThree, numCopies int
	for round := 0; round < numRounds; round++ {
		before := clients.numAcknowledged()
		waitUntil("ten more inserts are acknowledged", func() bool { return clients.numAcknowledged() >= before+10 })
		time.Sleep(time.Duration(rand.Intn(200)) * time.Millisecond)
		leads, connection := c.leader()
		connection.Close()
		follower := (leads + 1 + rand.Intn(2)) % numNodes
		c.waitForRows(follower, numUsers+before)
		answer := c.lookInto(follower, countMissed)
		numCopies++
		if answer != "0|0" {
			check("a follower's copy, amid the work, misses no user: "+answer, false)
		}

		aim := []*int32{&clients.inTransaction, &clients.inBuild, &clients.inJoin}[round%3]
		waitUntil("there is work", func() bool { return atomic.LoadInt32(aim) > 0 })
		time.Sleep(time.Duration(rand.Intn(1500)) * time.Microsecond)
		victims := []int{leads}
		switch round % 5 {
		case 0, 1:
			numLeaders++
		case 2:
			victims = []int{follower}
			numFollowers++
		case 3:
			victims = []int{leads, follower}
			if rand.Intn(2) == 0 {
				victims = []int{(leads + 1) % numNodes, (leads + 2) % numNodes}
			}
			numPairs++
		case 4:
			victims = []int{0, 1, 2}
			numAllThree++
		}
		struck.transactions += atomic.LoadInt32(&clients.inTransaction)
		struck.builds += atomic.LoadInt32(&clients.inBuild)
		struck.joins += atomic.LoadInt32(&clients.inJoin)
		c.kill(victims...)
		time.Sleep(time.Duration(100+rand.Intn(400)) * time.Millisecond)
		if len(victims) > 1 {
			// Answers that were on their way have arrived; one node alone gives no more.
			alone := clients.numAcknowledged()
			time.Sleep(500 * time.Millisecond)
			check("without a majority nothing is acknowledged", clients.numAcknowledged() == alone)
		}
		c.start(victims...)
	}
	before := clients.numAcknowledged()
	waitUntil("ten more inserts are acknowledged", func() bool { return clients.numAcknowledged() >= before+10 })
	close(clients.stop)
	clients.done.Wait()
	c.checkAll("after the kills", clients)
	c.kill(0, 1, 2)
	c.start(0, 1, 2)
	c.checkAll("after all were killed and started once more", clients)
	c.kill(0, 1, 2)

	fmt.Printf("note: killed: %d leaders, %d followers, %d times two of three, %d times all three\n",
		numLeaders, numFollowers, numPairs, numAllThree)
	fmt.Printf("note: under way at a kill: %d transactions, %d builds, %d joins\n",
		struck.transactions, struck.builds, struck.joins)
	fmt.Printf("note: inserts: %d acknowledged, %d unknown, %d refused; %d builds, %d errors\n",
		len(clients.acknowledged), len(clients.unknown), len(clients.refused), clients.numBuilds, clients.numErrors)
	fmt.Printf("note: asked for %d users, wrong no %d; for %d strangers, wrong maybe %d\n",
		clients.numAsked, clients.numWrongNo, clients.numStrangers, clients.numPassed)
	fmt.Printf("note: %d joins, wrong %d; %d copies of followers looked into\n",
		clients.numJoins, clients.numWrongCounts, numCopies)
	check("no wrong no", clients.numWrongNo == 0 && clients.numAsked > 0)
	check("no wrong count", clients.numWrongCounts == 0 && clients.numJoins > 0)
	check("the filters say no to strangers, but for about one in a hundred",
		clients.numStrangers > 0 && clients.numPassed*30 < clients.numStrangers)
	check("filters were built", clients.numBuilds > 0)
	check("no node ended by itself", c.numCrashes == 0)
	check("nodes died amid transactions, builds and joins",
		numRounds < 15 || (struck.transactions > 0 && struck.builds > 0 && struck.joins > 0))
	fmt.Printf("%d passed, %d failed\n", numPassed, numFailed)
	if numFailed > 0 {
		os.Exit(1)
	}
}
