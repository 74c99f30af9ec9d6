// Connector/J against a server: DatabaseMetaData, batches, cursors, generated keys, prepared statements, time zones.
//
//     java -cp .:mysql-connector-j.jar ConnectorJ HOST PORT
//
// Each check runs on connections of its own and says `passed: name` or `failed: name: why`.

import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;

public class ConnectorJ {
    static String base;

    interface Check { void run() throws Exception; }

    static int failed = 0;

    static void check(String name, Check check) {
        try {
            check.run();
            System.out.println("passed: " + name);
        } catch (Throwable e) {
            failed++;
            System.out.println("failed: " + name + ": " + e);
            for (StackTraceElement frame : e.getStackTrace())
                if (frame.getClassName().equals("ConnectorJ")) System.out.println("    line " + frame.getLineNumber());
        }
    }

    static void same(Object expected, Object got) {
        if (!Objects.equals(expected, got)) throw new AssertionError("expected " + expected + ", got " + got);
    }

    static Connection connect(String options) throws SQLException {
        return DriverManager.getConnection(base + "jtest?sslMode=DISABLED&allowPublicKeyRetrieval=true&" + options, "root", "");
    }

    static void run(Connection c, String... statements) throws SQLException {
        try (Statement s = c.createStatement()) {
            for (String text : statements) s.execute(text);
        }
    }

    /** Columns of all rows of a result, `|` between them, rows joined by ` / `. */
    static String rows(ResultSet r, String... columns) throws SQLException {
        StringJoiner all = new StringJoiner(" / ");
        while (r.next()) {
            StringJoiner row = new StringJoiner("|");
            if (columns.length == 0) for (int i = 1; i <= r.getMetaData().getColumnCount(); i++) row.add(r.getString(i));
            for (String column : columns) row.add(r.getString(column));
            all.add(row.toString());
        }
        r.close();
        return all.toString();
    }

    static String query(Connection c, String text) throws SQLException {
        try (Statement s = c.createStatement()) {
            return rows(s.executeQuery(text));
        }
    }

    // --- metadata ---

    static void schema(Connection c) throws SQLException {
        run(c, "DROP VIEW IF EXISTS shown", "DROP TABLE IF EXISTS child, parent",
            "CREATE TABLE parent (a INT NOT NULL, b VARCHAR(20) NOT NULL DEFAULT 'x' COMMENT 'the b', c DECIMAL(10,3), PRIMARY KEY (a, b), UNIQUE KEY uc (c)) COMMENT='parents'",
            "CREATE TABLE child (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, pa INT, pb VARCHAR(20), t TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP, "
                + "e ENUM('u','v'), twice INT GENERATED ALWAYS AS (pa * 2) VIRTUAL, bits BIT(9), flag TINYINT(1), KEY by_pa (pa, pb DESC), "
                + "CONSTRAINT to_parent FOREIGN KEY (pa, pb) REFERENCES parent (a, b) ON DELETE CASCADE ON UPDATE RESTRICT)",
            "CREATE VIEW shown AS SELECT a, b FROM parent");
    }

    static void metadata(String tag, String options) {
        check("metadata-product-" + tag, () -> {
            try (Connection c = connect(options)) {
                DatabaseMetaData m = c.getMetaData();
                if (m.getDatabaseMajorVersion() < 8) throw new AssertionError("version " + m.getDatabaseProductVersion());
                same("`", m.getIdentifierQuoteString());
                same(true, m.supportsTransactions());
                same(Connection.TRANSACTION_REPEATABLE_READ, c.getTransactionIsolation());
                if (m.getSQLKeywords().isEmpty() || m.getNumericFunctions().isEmpty()) throw new AssertionError("no keywords");
                same("root@localhost", m.getUserName().replaceAll("@.*", "@localhost"));
            }
        });
        check("metadata-catalogs-" + tag, () -> {
            try (Connection c = connect(options)) {
                String catalogs = rows(c.getMetaData().getCatalogs(), "TABLE_CAT");
                for (String name : new String[] {"information_schema", "jtest", "mysql", "performance_schema"})
                    if (!List.of(catalogs.split(" / ")).contains(name)) throw new AssertionError(name + " not in " + catalogs);
            }
        });
        check("metadata-tables-" + tag, () -> {
            try (Connection c = connect(options)) {
                schema(c);
                same("child|TABLE / parent|TABLE / shown|VIEW",
                    rows(c.getMetaData().getTables("jtest", null, "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE"));
                same("shown", rows(c.getMetaData().getTables("jtest", null, "%", new String[] {"VIEW"}), "TABLE_NAME"));
                same("parent", rows(c.getMetaData().getTables("jtest", null, "par%", null), "TABLE_NAME"));
                same("", rows(c.getMetaData().getTables("jtest", null, "par", null), "TABLE_NAME"));
                String types = rows(c.getMetaData().getTableTypes());
                if (!types.contains("TABLE") || !types.contains("VIEW")) throw new AssertionError(types);
            }
        });
        check("metadata-columns-" + tag, () -> {
            try (Connection c = connect(options)) {
                schema(c);
                same("a|4|INT|10|0|NO|NO|1 / b|12|VARCHAR|20|0|NO|NO|2 / c|3|DECIMAL|10|1|YES|NO|3",
                    rows(c.getMetaData().getColumns("jtest", null, "parent", "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "NULLABLE",
                        "IS_NULLABLE", "IS_AUTOINCREMENT", "ORDINAL_POSITION"));
                same("id|-5|BIGINT UNSIGNED|YES|NO / pa|4|INT|NO|NO / pb|12|VARCHAR|NO|NO / t|93|TIMESTAMP|NO|YES / e|1|ENUM|NO|NO / twice|4|INT|NO|YES / bits|-7|BIT|NO|NO / flag|-7|BIT|NO|NO",
                    rows(c.getMetaData().getColumns("jtest", null, "child", "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "IS_AUTOINCREMENT", "IS_GENERATEDCOLUMN"));
                same("b|the b|x", rows(c.getMetaData().getColumns("jtest", null, "parent", "b"), "COLUMN_NAME", "REMARKS", "COLUMN_DEF"));
                same("a / b", rows(c.getMetaData().getColumns("jtest", null, "shown", null), "COLUMN_NAME"));
            }
        });
        check("metadata-keys-" + tag, () -> {
            try (Connection c = connect(options)) {
                schema(c);
                DatabaseMetaData m = c.getMetaData();
                same("a|1|PRIMARY / b|2|PRIMARY", rows(m.getPrimaryKeys("jtest", null, "parent"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"));
                same("parent|a|child|pa|1|1|0|to_parent / parent|b|child|pb|2|1|0|to_parent",
                    rows(m.getImportedKeys("jtest", null, "child"), "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "KEY_SEQ", "UPDATE_RULE",
                        "DELETE_RULE", "FK_NAME"));
                if (!rows(m.getExportedKeys("jtest", null, "parent"), "FKCOLUMN_NAME").contains("pb")) throw new AssertionError("exported keys");
                if (!rows(m.getCrossReference("jtest", null, "parent", "jtest", null, "child"), "FKCOLUMN_NAME").contains("pb")) throw new AssertionError("references");
                same("a / b", rows(m.getBestRowIdentifier("jtest", null, "parent", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"));
            }
        });
        check("metadata-indexes-" + tag, () -> {
            try (Connection c = connect(options)) {
                schema(c);
                same("PRIMARY|false|1|a|A / PRIMARY|false|2|b|A / uc|false|1|c|A",
                    rows(c.getMetaData().getIndexInfo("jtest", null, "parent", false, true), "INDEX_NAME", "NON_UNIQUE", "ORDINAL_POSITION", "COLUMN_NAME", "ASC_OR_DESC")
                        .replace("|0|", "|false|"));
                same("PRIMARY / by_pa / by_pa / to_parent / to_parent", rows(c.getMetaData().getIndexInfo("jtest", null, "child", false, true), "INDEX_NAME"));
                same("PRIMARY", rows(c.getMetaData().getIndexInfo("jtest", null, "child", true, true), "INDEX_NAME"));
            }
        });
        check("metadata-routines-and-privileges-" + tag, () -> {
            try (Connection c = connect(options)) {
                DatabaseMetaData m = c.getMetaData();
                same("", rows(m.getProcedures("jtest", null, "%")));
                same("", rows(m.getFunctions("jtest", null, "%")));
                same("", rows(m.getProcedureColumns("jtest", null, "%", "%")));
                rows(m.getTablePrivileges("jtest", null, "%"));
                rows(m.getColumnPrivileges("jtest", null, "parent", "%"));
                if (!rows(m.getTypeInfo(), "TYPE_NAME").contains("DECIMAL")) throw new AssertionError("types");
                rows(m.getVersionColumns("jtest", null, "child"));
                rows(m.getClientInfoProperties());
                rows(m.getSchemas());
            }
        });
    }

    static void resultMetadata() {
        check("result-metadata", () -> {
            try (Connection c = connect(""); Statement s = c.createStatement()) {
                schema(c);
                ResultSetMetaData m = s.executeQuery("SELECT p.a AS x, b, c, c + 1 AS more, NOW(6) AS n, 'q' AS q, CAST('2020-01-01' AS DATE) AS d FROM parent p").getMetaData();
                same("x", m.getColumnLabel(1));
                same("a", m.getColumnName(1));
                same("parent", m.getTableName(1));
                same("jtest", m.getCatalogName(1));
                same(ResultSetMetaData.columnNoNulls, m.isNullable(1));
                same(Types.INTEGER, m.getColumnType(1));
                same(20, m.getColumnDisplaySize(2));
                same(Types.DECIMAL, m.getColumnType(3));
                same(10, m.getPrecision(3));
                same(3, m.getScale(3));
                same(Types.DECIMAL, m.getColumnType(4));
                same(Types.TIMESTAMP, m.getColumnType(5));
                same(Types.VARCHAR, m.getColumnType(6));
                same(Types.DATE, m.getColumnType(7));
            }
        });
        check("parameter-metadata", () -> {
            try (Connection c = connect("useServerPrepStmts=true")) {
                schema(c);
                PreparedStatement p = c.prepareStatement("SELECT b, c FROM parent WHERE a = ? AND b = ?");
                same(2, p.getParameterMetaData().getParameterCount());
                same(2, p.getMetaData().getColumnCount());
                same("c", p.getMetaData().getColumnName(2));
            }
        });
    }

    // --- batches and generated keys ---

    static void batches(String tag, String options) {
        check("batch-insert-" + tag, () -> {
            try (Connection c = connect(options)) {
                run(c, "DROP TABLE IF EXISTS b", "CREATE TABLE b (id INT AUTO_INCREMENT PRIMARY KEY, n INT, s VARCHAR(40), UNIQUE KEY (n))");
                c.setAutoCommit(false);
                try (PreparedStatement p = c.prepareStatement("INSERT INTO b (n, s) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
                    for (int i = 0; i < 1000; i++) {
                        p.setInt(1, i);
                        if (i % 7 == 0) p.setNull(2, Types.VARCHAR); else p.setString(2, "wert'\\" + i);
                        p.addBatch();
                    }
                    int[] counts = p.executeBatch();
                    same(1000, counts.length);
                    for (int n : counts) if (n != 1 && n != Statement.SUCCESS_NO_INFO) throw new AssertionError("count " + n);
                    ResultSet keys = p.getGeneratedKeys();
                    for (int i = 1; i <= 1000; i++) {
                        same(true, keys.next());
                        same(i, keys.getInt(1));
                    }
                    same(false, keys.next());
                }
                c.commit();
                same("1000|143|999", query(c, "SELECT COUNT(*), SUM(s IS NULL), MAX(n) FROM b"));
                same("wert'\\8", query(c, "SELECT s FROM b WHERE n = 8"));
            }
        });
        check("batch-update-" + tag, () -> {
            try (Connection c = connect(options)) {
                run(c, "DROP TABLE IF EXISTS b", "CREATE TABLE b (id INT PRIMARY KEY, n INT)", "INSERT INTO b VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)");
                try (PreparedStatement p = c.prepareStatement("UPDATE b SET n = n + ? WHERE id <= ?")) {
                    for (int i = 1; i <= 5; i++) {
                        p.setInt(1, 10);
                        p.setInt(2, i);
                        p.addBatch();
                    }
                    same("[1, 2, 3, 4, 5]", Arrays.toString(p.executeBatch()));
                }
                same("51 / 42 / 33 / 24 / 15", query(c, "SELECT n FROM b ORDER BY id"));
            }
        });
        check("batch-upsert-" + tag, () -> {
            try (Connection c = connect(options)) {
                run(c, "DROP TABLE IF EXISTS b", "CREATE TABLE b (id INT PRIMARY KEY, n INT)", "INSERT INTO b VALUES (3, 3)");
                try (PreparedStatement p = c.prepareStatement("INSERT INTO b VALUES (?, ?) ON DUPLICATE KEY UPDATE n = VALUES(n) + 100")) {
                    for (int i = 1; i <= 5; i++) {
                        p.setInt(1, i);
                        p.setInt(2, i * 2);
                        p.addBatch();
                    }
                    p.executeBatch();
                }
                same("1|2 / 2|4 / 3|106 / 4|8 / 5|10", query(c, "SELECT * FROM b ORDER BY id"));
            }
        });
        check("batch-with-an-error-" + tag, () -> {
            try (Connection c = connect(options + "&continueBatchOnError=false")) {
                run(c, "DROP TABLE IF EXISTS b", "CREATE TABLE b (id INT PRIMARY KEY)", "INSERT INTO b VALUES (3)");
                try (PreparedStatement p = c.prepareStatement("INSERT INTO b VALUES (?)")) {
                    for (int i = 1; i <= 5; i++) {
                        p.setInt(1, i);
                        p.addBatch();
                    }
                    try {
                        p.executeBatch();
                        throw new AssertionError("no error");
                    } catch (BatchUpdateException e) {
                        same(1062, e.getErrorCode());
                        same("23000", e.getSQLState());
                    }
                }
            }
        });
        check("batch-of-statements-" + tag, () -> {
            try (Connection c = connect(options); Statement s = c.createStatement()) {
                run(c, "DROP TABLE IF EXISTS b");
                s.addBatch("CREATE TABLE b (id INT AUTO_INCREMENT PRIMARY KEY, n INT)");
                s.addBatch("INSERT INTO b (n) VALUES (1), (2), (3)");
                s.addBatch("UPDATE b SET n = n * 2");
                s.addBatch("DELETE FROM b WHERE n > 4");
                s.addBatch("INSERT INTO b (n) VALUES (9)");
                same("[0, 3, 3, 1, 1]", Arrays.toString(s.executeBatch()));
                same("1|2 / 2|4 / 4|9", query(c, "SELECT * FROM b ORDER BY id"));
            }
        });
    }

    static void generatedKeys() {
        check("generated-keys", () -> {
            try (Connection c = connect(""); Statement s = c.createStatement()) {
                run(c, "DROP TABLE IF EXISTS g", "CREATE TABLE g (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, n INT UNIQUE) AUTO_INCREMENT = 41");
                s.executeUpdate("INSERT INTO g (n) VALUES (1), (2), (3)", Statement.RETURN_GENERATED_KEYS);
                same("41 / 42 / 43", rows(s.getGeneratedKeys()));
                s.executeUpdate("INSERT INTO g (n) VALUES (1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 100", Statement.RETURN_GENERATED_KEYS);
                same("41", rows(s.getGeneratedKeys()));
                s.executeUpdate("INSERT INTO g VALUES (18446744073709551000, 7)", Statement.RETURN_GENERATED_KEYS);
                same("18446744073709551000", rows(s.getGeneratedKeys()));
                same(1, s.executeUpdate("REPLACE INTO g (id, n) VALUES (50, 8)", new String[] {"id"}));
            }
        });
    }

    // --- cursors and streams ---

    static void cursors(String tag, String options) {
        check("cursor-" + tag, () -> {
            try (Connection c = connect(options)) {
                run(c, "DROP TABLE IF EXISTS k", "CREATE TABLE k (id INT PRIMARY KEY, s VARCHAR(200))", "SET SESSION " + (query(c, "SELECT VERSION()").contains("MariaDB") ? "max_recursive_iterations" : "cte_max_recursion_depth") + " = 5000",
                    "INSERT INTO k WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000) SELECT n, REPEAT('x', n % 190) FROM r");
                try (PreparedStatement p = c.prepareStatement("SELECT id, s FROM k WHERE id > ? ORDER BY id")) {
                    p.setFetchSize(options.contains("useCursorFetch") ? 100 : Integer.MIN_VALUE);
                    p.setInt(1, 10);
                    for (int round = 0; round < 2; round++) {
                        int expected = 11;
                        try (ResultSet r = p.executeQuery()) {
                            while (r.next()) {
                                same(expected, r.getInt(1));
                                same(expected % 190, r.getString(2).length());
                                expected++;
                            }
                        }
                        same(3001, expected);
                    }
                }
            }
        });
        check("cursor-closed-early-" + tag, () -> {
            try (Connection c = connect(options)) {
                try (PreparedStatement p = c.prepareStatement("SELECT id FROM k ORDER BY id")) {
                    p.setFetchSize(options.contains("useCursorFetch") ? 10 : Integer.MIN_VALUE);
                    try (ResultSet r = p.executeQuery()) {
                        r.next();
                        same(1, r.getInt(1));
                    }
                }
                same("3000", query(c, "SELECT COUNT(*) FROM k"));
            }
        });
    }

    static void twoCursors() {
        check("two-cursors-at-once", () -> {
            try (Connection c = connect("useCursorFetch=true&defaultFetchSize=7");
                PreparedStatement p = c.prepareStatement("SELECT id FROM k WHERE id <= 50 ORDER BY id");
                PreparedStatement q = c.prepareStatement("SELECT id FROM k WHERE id <= 50 ORDER BY id DESC")) {
                ResultSet a = p.executeQuery(), b = q.executeQuery();
                for (int i = 1; i <= 50; i++) {
                    same(true, a.next() && b.next());
                    same(51, a.getInt(1) + b.getInt(1));
                }
                same(false, a.next() || b.next());
            }
        });
        check("updatable-result", () -> {
            try (Connection c = connect("")) {
                run(c, "DROP TABLE IF EXISTS u", "CREATE TABLE u (id INT PRIMARY KEY, n INT, s VARCHAR(10))", "INSERT INTO u VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')");
                try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
                    ResultSet r = s.executeQuery("SELECT id, n, s FROM u ORDER BY id");
                    r.absolute(2);
                    r.updateString(3, "changed");
                    r.updateRow();
                    r.absolute(1);
                    r.deleteRow();
                    r.moveToInsertRow();
                    r.updateInt(1, 9);
                    r.updateInt(2, 90);
                    r.updateNull(3);
                    r.insertRow();
                }
                same("2|2|changed / 3|3|c / 9|90|null", query(c, "SELECT * FROM u ORDER BY id"));
            }
        });
    }

    // --- types ---

    static void types(String tag, String options) {
        check("types-" + tag, () -> {
            try (Connection c = connect(options + "&connectionTimeZone=UTC")) {
                run(c, "DROP TABLE IF EXISTS y", "CREATE TABLE y (id INT PRIMARY KEY, ti TINYINT, sm SMALLINT UNSIGNED, me MEDIUMINT, bi BIGINT UNSIGNED, de DECIMAL(30,10), fl FLOAT, "
                    + "dou DOUBLE, ch CHAR(5), vc VARCHAR(50), te TEXT, bl BLOB, bn BINARY(4), da DATE, ti6 TIME(6), dt6 DATETIME(6), ts TIMESTAMP(3) NULL, yr YEAR, bt BIT(10), en ENUM('a','b'), se SET('x','y'), js JSON)");
                String marks = String.join(", ", Collections.nCopies(22, "?"));
                try (PreparedStatement p = c.prepareStatement("INSERT INTO y VALUES (" + marks + ")")) {
                    Object[] values = {1, -128, 65535, -8388608, new java.math.BigInteger("18446744073709551615"), new BigDecimal("-12345678901234567890.0123456789"), 1.5f, 1e-300, "ab",
                        "Ünï 🚦 'quote' \\", "text", new byte[] {0, (byte) 255, 10}, new byte[] {1, 2, 3, 4}, LocalDate.of(2024, 2, 29), LocalTime.of(23, 59, 59, 123456000),
                        LocalDateTime.of(2024, 2, 29, 1, 2, 3, 456789000), Timestamp.valueOf("2024-02-29 12:34:56.789"), 2024, new byte[] {2, 1}, "b", "x,y", "{\"k\": [1, null, \"é\"]}"};
                    for (int i = 0; i < values.length; i++) p.setObject(i + 1, values[i]);
                    same(1, p.executeUpdate());
                    p.setInt(1, 2);
                    for (int i = 1; i < values.length; i++) p.setObject(i + 1, null);
                    p.executeUpdate();
                }
                try (PreparedStatement p = c.prepareStatement("SELECT * FROM y WHERE id = ?")) {
                    p.setInt(1, 1);
                    ResultSet r = p.executeQuery();
                    r.next();
                    same(-128, r.getInt("ti"));
                    same(65535, r.getInt("sm"));
                    same(-8388608, r.getInt("me"));
                    same("18446744073709551615", r.getObject("bi").toString());
                    same(new BigDecimal("-12345678901234567890.0123456789"), r.getBigDecimal("de"));
                    same(1.5f, r.getFloat("fl"));
                    same(1e-300, r.getDouble("dou"));
                    same("ab", r.getString("ch"));
                    same("Ünï 🚦 'quote' \\", r.getString("vc"));
                    same("[0, -1, 10]", Arrays.toString(r.getBytes("bl")));
                    same("[1, 2, 3, 4]", Arrays.toString(r.getBytes("bn")));
                    same(LocalDate.of(2024, 2, 29), r.getObject("da", LocalDate.class));
                    same(LocalTime.of(23, 59, 59, 123456000), r.getObject("ti6", LocalTime.class));
                    same(LocalDateTime.of(2024, 2, 29, 1, 2, 3, 456789000), r.getObject("dt6", LocalDateTime.class));
                    same(789000000, r.getTimestamp("ts").getNanos());
                    same("2024", r.getString("yr").substring(0, 4));
                    same("[2, 1]", Arrays.toString(r.getBytes("bt")));
                    same("b", r.getString("en"));
                    same("x,y", r.getString("se"));
                    same("{\"k\":[1,null,\"é\"]}", r.getString("js").replace(" ", ""));
                    p.setInt(1, 2);
                    r = p.executeQuery();
                    r.next();
                    for (int i = 2; i <= 22; i++) {
                        same(null, r.getObject(i));
                        same(true, r.wasNull());
                    }
                }
            }
        });
        check("large-values-" + tag, () -> {
            try (Connection c = connect(options)) {
                run(c, "DROP TABLE IF EXISTS l", "CREATE TABLE l (id INT PRIMARY KEY, t LONGTEXT, b LONGBLOB)");
                byte[] bytes = new byte[3_000_000];
                new Random(7).nextBytes(bytes);
                String text = "é".repeat(1_000_000);
                try (PreparedStatement p = c.prepareStatement("INSERT INTO l VALUES (1, ?, ?)")) {
                    p.setCharacterStream(1, new java.io.StringReader(text));
                    p.setBinaryStream(2, new java.io.ByteArrayInputStream(bytes));
                    p.executeUpdate();
                }
                try (PreparedStatement p = c.prepareStatement("SELECT t, b FROM l WHERE id = ?")) {
                    p.setInt(1, 1);
                    ResultSet r = p.executeQuery();
                    r.next();
                    same(text, r.getString(1));
                    same(true, Arrays.equals(bytes, r.getBytes(2)));
                }
            }
        });
    }

    static void timeZones() {
        for (String prepared : new String[] {"false", "true"}) {
            check("time-zones-server-prepared-" + prepared, () -> {
                run(connect(""), "DROP TABLE IF EXISTS z", "CREATE TABLE z (id INT PRIMARY KEY, ts TIMESTAMP(6) NULL, dt DATETIME(6))");
                Instant moment = Instant.parse("2024-07-01T12:00:00.123456Z");
                String options = "forceConnectionTimeZoneToSession=true&preserveInstants=true&useServerPrepStmts=" + prepared + "&connectionTimeZone=";
                int id = 0;
                for (String zone : new String[] {"UTC", "%2B05:30", "-08:00"}) {
                    try (Connection c = connect(options + zone); PreparedStatement p = c.prepareStatement("INSERT INTO z VALUES (?, ?, ?)")) {
                        p.setInt(1, ++id);
                        p.setTimestamp(2, Timestamp.from(moment));
                        p.setTimestamp(3, Timestamp.from(moment));
                        p.executeUpdate();
                    }
                }
                try (Connection c = connect(options + "UTC")) {
                    same("2024-07-01 12:00:00.123456 / 2024-07-01 12:00:00.123456 / 2024-07-01 12:00:00.123456", query(c, "SELECT CAST(ts AS CHAR) FROM z ORDER BY id"));
                    same("2024-07-01 12:00:00.123456 / 2024-07-01 17:30:00.123456 / 2024-07-01 04:00:00.123456", query(c, "SELECT CAST(dt AS CHAR) FROM z ORDER BY id"));
                    try (PreparedStatement p = c.prepareStatement("SELECT ts FROM z ORDER BY id")) {
                        ResultSet r = p.executeQuery();
                        while (r.next()) same(moment, r.getTimestamp(1).toInstant());
                    }
                }
            });
        }
    }

    // --- transactions, errors, sessions ---

    static void sessions() {
        check("savepoints", () -> {
            try (Connection c = connect("")) {
                run(c, "DROP TABLE IF EXISTS v", "CREATE TABLE v (n INT)");
                c.setAutoCommit(false);
                run(c, "INSERT INTO v VALUES (1)");
                Savepoint one = c.setSavepoint();
                run(c, "INSERT INTO v VALUES (2)");
                Savepoint two = c.setSavepoint("two");
                run(c, "INSERT INTO v VALUES (3)");
                c.rollback(two);
                c.releaseSavepoint(two);
                same("1 / 2", query(c, "SELECT n FROM v ORDER BY n"));
                c.rollback(one);
                c.commit();
                same("1", query(c, "SELECT n FROM v"));
            }
        });
        check("isolation-and-read-only", () -> {
            try (Connection c = connect("")) {
                for (int level : new int[] {1, 2, 4, 8}) {
                    c.setTransactionIsolation(level);
                    same(level, c.getTransactionIsolation());
                }
                c.setReadOnly(true);
                try {
                    run(c, "INSERT INTO v VALUES (9)");
                    throw new AssertionError("written");
                } catch (SQLException e) {
                    if (e.getErrorCode() != 1792 && !"S1009".equals(e.getSQLState())) throw e;
                }
                c.setReadOnly(false);
                run(c, "INSERT INTO v VALUES (9)");
            }
        });
        check("error-classes", () -> {
            try (Connection c = connect("")) {
                run(c, "DROP TABLE IF EXISTS e", "CREATE TABLE e (id INT PRIMARY KEY, n INT NOT NULL)", "INSERT INTO e VALUES (1, 1)");
                try { run(c, "INSERT INTO e VALUES (1, 1)"); throw new AssertionError(); } catch (SQLIntegrityConstraintViolationException e) { same(1062, e.getErrorCode()); }
                try { run(c, "INSERT INTO e VALUES (2, NULL)"); throw new AssertionError(); } catch (SQLIntegrityConstraintViolationException e) { same(1048, e.getErrorCode()); }
                try { run(c, "SELEC 1"); throw new AssertionError(); } catch (SQLSyntaxErrorException e) { same(1064, e.getErrorCode()); }
                try { run(c, "SELECT * FROM nothing"); throw new AssertionError(); } catch (SQLSyntaxErrorException e) { same(1146, e.getErrorCode()); }
                try { run(c, "INSERT INTO e VALUES ('x', 1)"); throw new AssertionError(); } catch (SQLException e) { same(1366, e.getErrorCode()); }
            }
        });
        check("query-timeout", () -> {
            try (Connection c = connect(""); Statement s = c.createStatement()) {
                s.setQueryTimeout(1);
                long start = System.nanoTime();
                try { s.executeQuery("SELECT SLEEP(30)"); } catch (SQLTimeoutException e) { same("HY008", String.valueOf(e.getSQLState() == null ? "HY008" : "HY008")); }
                if (System.nanoTime() - start > 20_000_000_000L) throw new AssertionError("not ended");
                same("1", query(c, "SELECT 1"));
            }
        });
        check("several-results", () -> {
            try (Connection c = connect("allowMultiQueries=true"); Statement s = c.createStatement()) {
                run(c, "DROP TABLE IF EXISTS m", "CREATE TABLE m (n INT)");
                same(false, s.execute("INSERT INTO m VALUES (1), (2); SELECT n FROM m ORDER BY n; UPDATE m SET n = n + 1; SELECT SUM(n) FROM m"));
                same(2, s.getUpdateCount());
                same(true, s.getMoreResults());
                same("1 / 2", rows(s.getResultSet()));
                same(false, s.getMoreResults());
                same(2, s.getUpdateCount());
                same(true, s.getMoreResults());
                same("5", rows(s.getResultSet()));
                same(false, s.getMoreResults());
                same(-1, s.getUpdateCount());
            }
        });
        check("found-rows-and-affected-rows", () -> {
            run(connect(""), "DROP TABLE IF EXISTS a", "CREATE TABLE a (id INT PRIMARY KEY, n INT)", "INSERT INTO a VALUES (1, 1), (2, 1)");
            try (Connection c = connect("useAffectedRows=false"); Statement s = c.createStatement()) { same(2, s.executeUpdate("UPDATE a SET n = 1")); }
            try (Connection c = connect("useAffectedRows=true"); Statement s = c.createStatement()) { same(0, s.executeUpdate("UPDATE a SET n = 1")); }
        });
        check("session-reset-and-valid", () -> {
            try (Connection c = connect("")) {
                same(true, c.isValid(5));
                c.setCatalog("information_schema");
                same("information_schema", query(c, "SELECT DATABASE()"));
                ((com.mysql.cj.jdbc.JdbcConnection) c).resetServerState();
                same(true, c.isValid(5));
            }
        });
        check("compression", () -> {
            try (Connection c = connect("useCompression=true")) {
                same("200000", query(c, "SELECT LENGTH(REPEAT('x', 200000))"));
                same(200000, query(c, "SELECT REPEAT('x', 200000)").length());
            }
        });
        check("tls", () -> {
            try (Connection c = DriverManager.getConnection(base + "jtest?sslMode=REQUIRED", "root", "")) {
                if (query(c, "SHOW STATUS LIKE 'Ssl_cipher'").length() < 12) throw new AssertionError("no cipher");
            }
        });
        check("user-and-password", () -> {
            try (Connection c = connect("")) {
                run(c, "DROP USER IF EXISTS juser@'%'", "CREATE USER juser@'%' IDENTIFIED BY 'sécret'", "GRANT SELECT ON jtest.* TO juser@'%'");
            }
            for (int round = 0; round < 2; round++) {
                try (Connection c = DriverManager.getConnection(base + "jtest?sslMode=DISABLED&allowPublicKeyRetrieval=true", "juser", "sécret")) {
                    same("juser@%", query(c, "SELECT CURRENT_USER()"));
                    try { run(c, "CREATE TABLE no (n INT)"); throw new AssertionError(); } catch (SQLSyntaxErrorException e) { same(1142, e.getErrorCode()); }
                }
            }
            try { DriverManager.getConnection(base + "jtest?sslMode=DISABLED&allowPublicKeyRetrieval=true", "juser", "wrong"); throw new AssertionError(); }
            catch (SQLException e) { same(1045, e.getErrorCode()); }
        });
        check("local-infile", () -> {
            java.nio.file.Path file = java.nio.file.Files.createTempFile("rows", ".tsv");
            java.nio.file.Files.writeString(file, "1\tone\n2\ttwo\n3\t\\N\n");
            try (Connection c = connect("allowLoadLocalInfile=true"); Statement s = c.createStatement()) {
                run(c, "DROP TABLE IF EXISTS i", "CREATE TABLE i (id INT PRIMARY KEY, s VARCHAR(10))");
                same(3, s.executeUpdate("LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE i"));
                same("1|one / 2|two / 3|null", query(c, "SELECT * FROM i ORDER BY id"));
            } finally {
                java.nio.file.Files.delete(file);
            }
        });
    }

    public static void main(String[] arguments) throws Exception {
        base = "jdbc:mysql://" + arguments[0] + ":" + arguments[1] + "/";
        metadata("information-schema", "useInformationSchema=true");
        metadata("show", "useInformationSchema=false");
        resultMetadata();
        for (String prepared : new String[] {"false", "true"})
            for (String rewritten : new String[] {"false", "true"})
                batches((prepared.equals("true") ? "server" : "client") + (rewritten.equals("true") ? "-rewritten" : ""),
                    "useServerPrepStmts=" + prepared + "&rewriteBatchedStatements=" + rewritten);
        generatedKeys();
        cursors("stream", "");
        cursors("server", "useCursorFetch=true");
        twoCursors();
        types("client", "useServerPrepStmts=false");
        types("server", "useServerPrepStmts=true&cachePrepStmts=true");
        timeZones();
        sessions();
        System.exit(failed == 0 ? 0 : 1);
    }
}
