-- Versioned comments: headings, and warnings of those that are written in deprecated ways.
SELECT 1 /*!32301 +1 */;
SELECT 1 /*!999999 +1 */;
SELECT 1 + /*!00000 2 */ + 3 /*!99999 noise*/ + 4;
SELECT 1/*!50000*/;
SELECT 1/*!50000+1*/;
SELECT 1/*!999992*/;
SELECT 1 /*!+1*/;
SELECT '/*!50000 x*/', 2 /*! + 1 */;
SELECT 1 /*!50000 + /* x */ 2 */ + 1;
SELECT 1 /*!99999 + /* x */ 2 */ + 1;
SELECT 1 /* c */ + 1;
CREATE VIEW v AS SELECT 1 /*!50000 + 2 */ + 3;
SHOW CREATE VIEW v;
SELECT 1 FROM /* c;
SELECT 1/*!80034
+1*/;
CREATE TABLE t (a CHAR(3) ASCII, b CHAR(3) UNICODE);
SHOW CREATE TABLE t;
