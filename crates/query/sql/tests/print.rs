//! Canonical text of expressions and queries, as MySQL 9.7 printed them in SHOW CREATE TABLE and SHOW CREATE VIEW.

use sql::SqlMode;
use sql::ast::Statement;
use sql::print::{Bare, expression};
use sql::print_query::{Tables, query};

fn printed(text: &str) -> String {
    let parsed = sql::parse(format!("DO {text}").as_bytes(), SqlMode::default()).unwrap();
    let Statement::Do(list) = &parsed.statement else { panic!("{text}") };
    expression(&parsed, parsed.list(*list)[0], "utf8mb4", &mut Bare).unwrap()
}

#[test]
fn expressions() {
    for (text, wanted) in [
        (
            "a + 1 > 2 * b AND NOT (a = 3) OR a IN (1, 2, 3)",
            "((((`a` + 1) > (2 * `b`)) and (`a` <> 3)) or (`a` in (1,2,3)))",
        ),
        ("b LIKE 'x''y%'", "(`b` like _utf8mb4'x\\'y%')"),
        ("-a < -5 AND ~a <> 0", "((-(`a`) < -(5)) and (~(`a`) <> 0))"),
        ("a IS TRUE OR NOT a", "(((0 <> `a`) is true) or (0 = `a`))"),
        ("d < '2030-01-01' + INTERVAL 1 DAY", "(`d` < (_utf8mb4'2030-01-01' + interval 1 day))"),
        ("CAST(a AS CHAR(5)) = b", "(cast(`a` as char(5) charset utf8mb4) = `b`)"),
        ("SUBSTRING(b, 1, 2) = x'41'", "(substr(`b`,1,2) = 0x41)"),
    ] {
        let first = printed(text);
        assert_eq!(first, wanted);
        assert_eq!(printed(&first), first, "canonical text prints as itself");
    }
}

struct Two;

impl Tables for Two {
    fn columns(&self, schema: Option<&str>, table: &str) -> Option<(String, Vec<String>)> {
        let columns: &[&str] = match table {
            "t" => &["id", "a", "b"],
            "u" => &["id", "y"],
            _ => return None,
        };
        Some((schema.unwrap_or("vw").to_string(), columns.iter().map(|c| c.to_string()).collect()))
    }
}

#[test]
fn queries() {
    for (text, wanted) in [
        ("SELECT * FROM t", "select `vw`.`t`.`id` AS `id`,`vw`.`t`.`a` AS `a`,`vw`.`t`.`b` AS `b` from `vw`.`t`"),
        (
            "SELECT a AS x FROM t z WHERE b > 1 ORDER BY x DESC LIMIT 2, 3",
            "select `z`.`a` AS `x` from `vw`.`t` `z` where (`z`.`b` > 1) order by `z`.`a` desc limit 2,3",
        ),
        (
            "SELECT COUNT(*) c, y FROM u LEFT JOIN t USING (id) GROUP BY y HAVING c > 1",
            "select count(0) AS `c`,`vw`.`u`.`y` AS `y` from (`vw`.`u` left join `vw`.`t` on((`vw`.`u`.`id` = \
             `vw`.`t`.`id`))) group by `vw`.`u`.`y` having (`c` > 1)",
        ),
        (
            "WITH c AS (SELECT id FROM t) SELECT * FROM c WHERE id IN (SELECT id FROM u)",
            "with `c` as (select `vw`.`t`.`id` AS `id` from `vw`.`t`) select `c`.`id` AS `id` from `c` where `c`.`id` \
             in (select `vw`.`u`.`id` AS `id` from `vw`.`u`)",
        ),
        (
            "SELECT 1 UNION SELECT a FROM t ORDER BY `1`",
            "select 1 AS `1` union select `vw`.`t`.`a` AS `a` from `vw`.`t` order by `1`",
        ),
        ("SELECT 1+1, 1+1, 1+1", "select (1 + 1) AS `1+1`,(1 + 1) AS `Name_exp_1+1`,(1 + 1) AS `Name_exp_1_1+1`"),
        (
            "SELECT 'x', 'x', 'X', 1 AS 'name_exp_x'",
            "select 'x' AS `x`,'x' AS `Name_exp_2_x`,'X' AS `Name_exp_1_X`,1 AS `name_exp_x`",
        ),
        ("SELECT 3 AS `2`, 2, 1 AS name_exp_2", "select 3 AS `2`,2 AS `Name_exp_1_2`,1 AS `name_exp_2`"),
    ] {
        let parsed = sql::parse(text.as_bytes(), SqlMode::default()).unwrap();
        let Statement::Query(id) = parsed.statement else { panic!("{text}") };
        assert_eq!(query(&parsed, id, true, &Two).map(|p| p.text).as_deref(), Some(wanted));
    }
    let parsed = sql::parse(b"SELECT * FROM nobody", SqlMode::default()).unwrap();
    let Statement::Query(id) = parsed.statement else { panic!() };
    assert_eq!(query(&parsed, id, true, &Two), None);
}
