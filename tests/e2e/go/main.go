// Exercises a server through go-sql-driver/mysql: prepared and interpolated statements, types, transactions, errors,
// a pool under load. Usage: go run . DSN. Prints "ok", or what went wrong, and exits non-zero then.
package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func expect(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		panic(fmt.Sprintf("%s: got %v, want %v", what, got, want))
	}
}

func number(err error) (uint16, string) {
	var failure *mysql.MySQLError
	if errors.As(err, &failure) {
		return failure.Number, string(failure.SQLState[:])
	}
	return 0, fmt.Sprint(err)
}

func types(db *sql.DB, prepared bool) {
	_, err := db.Exec("DROP TABLE IF EXISTS go_types")
	check(err)
	_, err = db.Exec(`CREATE TABLE go_types (id BIGINT UNSIGNED PRIMARY KEY, i INT, d DECIMAL(20,4), f DOUBLE, s VARCHAR(50),
		b BLOB, t DATETIME(6), n INT NULL) CHARACTER SET utf8mb4`)
	check(err)
	id, when, blob := uint64(1<<64-1), time.Date(2024, 2, 29, 12, 34, 56, 789012000, time.UTC), []byte{0, 255, 39, 92}
	insert, query := "INSERT INTO go_types VALUES (?, ?, ?, ?, ?, ?, ?, ?)", "SELECT * FROM go_types WHERE id = ?"
	var row *sql.Row
	if prepared {
		statement, err := db.Prepare(insert)
		check(err)
		_, err = statement.Exec(id, -5, "123.4500", 1e-300, "漢'字", blob, when, nil)
		check(err)
		check(statement.Close())
		statement, err = db.Prepare(query)
		check(err)
		defer statement.Close()
		row = statement.QueryRow(id)
	} else {
		_, err = db.Exec(insert, fmt.Sprint(id), -5, "123.4500", 1e-300, "漢'字", blob, when, nil)
		check(err)
		row = db.QueryRow(query, fmt.Sprint(id))
	}
	var gotID uint64
	var i int
	var d, s string
	var f float64
	var b []byte
	var t time.Time
	var n sql.NullInt64
	check(row.Scan(&gotID, &i, &d, &f, &s, &b, &t, &n))
	expect("row", []any{gotID, i, d, f, s, t.UTC(), n.Valid}, []any{id, -5, "123.4500", 1e-300, "漢'字", when, false})
	if !bytes.Equal(b, blob) {
		panic("blob differs")
	}
}

func failures(db *sql.DB) {
	_, err := db.Exec("INSERT INTO go_types (id) VALUES (18446744073709551615)")
	n, state := number(err)
	expect("duplicate", []any{n, state}, []any{1062, "23000"})
	_, err = db.Exec("SELECT * FROM go_missing")
	n, state = number(err)
	expect("missing table", []any{n, state}, []any{1146, "42S02"})
}

func transfers(db *sql.DB) {
	_, err := db.Exec("DROP TABLE IF EXISTS go_accounts")
	check(err)
	_, err = db.Exec("CREATE TABLE go_accounts (id INT PRIMARY KEY, amount INT NOT NULL)")
	check(err)
	_, err = db.Exec("INSERT INTO go_accounts VALUES (1, 100), (2, 100), (3, 100), (4, 100)")
	check(err)
	db.SetMaxOpenConns(16)
	var wait sync.WaitGroup
	problems := make(chan error, 16)
	for worker := range 16 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for turn := 0; turn < 50; turn++ {
				if err := transfer(db, (worker+turn)%4+1, (worker*3+turn*7+1)%4+1); err != nil {
					if n, _ := number(err); n != 1213 && n != 1205 {
						problems <- err
						return
					}
				}
			}
		}()
	}
	wait.Wait()
	select {
	case err := <-problems:
		panic(err)
	default:
	}
	var sum int
	check(db.QueryRow("SELECT SUM(amount) FROM go_accounts").Scan(&sum))
	expect("sum", sum, 400)
}

func transfer(db *sql.DB, from, to int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var amount int
	if err := tx.QueryRow("SELECT amount FROM go_accounts WHERE id = ? FOR UPDATE", from).Scan(&amount); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE go_accounts SET amount = amount - 1 WHERE id = ?", from); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE go_accounts SET amount = amount + 1 WHERE id = ?", to); err != nil {
		return err
	}
	return tx.Commit()
}

func main() {
	for _, mode := range []string{"", "&interpolateParams=true"} {
		db, err := sql.Open("mysql", os.Args[1]+"?parseTime=true&loc=UTC"+mode)
		check(err)
		check(db.Ping())
		types(db, mode == "")
		failures(db)
		transfers(db)
		check(db.Close())
	}
	fmt.Println("ok")
}
