module clearway.test/drivers

go 1.21

require github.com/go-sql-driver/mysql v1.8.1
