// bloom in Go, by mattn/go-sqlite3.  Run it in the folder of bloom.so, after
// `go mod init example` and `go get github.com/mattn/go-sqlite3`:
//
//	go run go_mattn.go
//
// With Debian's golang-github-mattn-go-sqlite3-dev instead:
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run go_mattn.go
package main

import (
	"database/sql"
	"fmt"
	"log"

	"github.com/mattn/go-sqlite3"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	// The driver loads it on every connection that it opens.
	sql.Register("sqlite3_bloom", &sqlite3.SQLiteDriver{Extensions: []string{"./bloom"}})
	db, err := sql.Open("sqlite3_bloom", ":memory:")
	check(err)
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a :memory: of its own

	var version, bloomVersion string
	check(db.QueryRow("SELECT sqlite_version(), bloom_version()").Scan(&version, &bloomVersion))
	fmt.Printf("SQLite %s, bloom %s\n", version, bloomVersion)

	// Build a filter of the customers, and store it.
	_, err = db.Exec(`
		CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT);
		INSERT INTO customers VALUES (1, 'DE'), (2, 'FR'), (1234567890123456789, 'DE');
		CREATE TABLE sales(customer_id INTEGER, amount INTEGER);
		INSERT INTO sales VALUES (1, 10), (2, 20), (77, 30), (1234567890123456789, 40);
		CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
		INSERT INTO filters SELECT 'customers', bloom_build(id) FROM customers`)
	check(err)

	// The filter is a []byte here, to read and to bind.
	var filter []byte
	check(db.QueryRow("SELECT filter FROM filters WHERE name = 'customers'").Scan(&filter))
	fmt.Printf("filter: %d bytes, %x\n", len(filter), filter)
	for _, key := range []int64{1, 77, 1234567890123456789} {
		var maybe bool
		check(db.QueryRow("SELECT bloom_may_contain(?, ?)", filter, key).Scan(&maybe))
		fmt.Printf("%d: %s\n", key, map[bool]string{false: "no", true: "maybe"}[maybe])
	}

	// In a join bloom_open() reads the stored filter once for all rows.
	sales, err := db.Query(`
		SELECT customer_id, amount FROM sales JOIN customers ON id = customer_id
		 WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)
		 ORDER BY amount`)
	check(err)
	for sales.Next() {
		var customer, amount int64
		check(sales.Scan(&customer, &amount))
		fmt.Printf("customer %d: %d\n", customer, amount)
	}
	check(sales.Err())
	var passed, tested int
	check(db.QueryRow(`
		SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)),
		       count(*) FROM sales`).Scan(&passed, &tested))
	fmt.Printf("%d of %d sales pass the filter\n", passed, tested)

	var encoding string
	var numBytes int
	var keys, rate float64
	check(db.QueryRow(`SELECT encoding, num_bytes, estimated_keys, measured_fpr FROM filters, bloom_info(filter)`).
		Scan(&encoding, &numBytes, &keys, &rate))
	fmt.Printf("%s, %d bytes, %.1f keys, %.2f %% false positives\n", encoding, numBytes, keys, 100*rate)

	var answer int
	if err = db.QueryRow("SELECT bloom_may_contain('customers', 1)").Scan(&answer); err != nil {
		fmt.Println("error:", err)
	}
}
