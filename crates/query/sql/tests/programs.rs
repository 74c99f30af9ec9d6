//! Bodies of stored programs: the instructions that they become, and what is refused.

use sql::SqlMode;
use sql::ast::{Expr, Op, Statement};

fn create(body: &str) -> Result<sql::ast::Parsed, (u16, String)> {
    let text = format!("CREATE PROCEDURE p(IN x INT, OUT y INT) {body}");
    sql::parse(text.as_bytes(), SqlMode::default()).map_err(|e| (e.code(), e.message().to_string()))
}

/// Each instruction by its debug form, with the texts of parts.
fn code(body: &str) -> Vec<String> {
    let parsed = create(body).expect("it parses");
    let Statement::CreateRoutine(create) = &parsed.statement else { panic!("a routine") };
    let part = |n: &u32| String::from_utf8_lossy(create.program.parts[*n as usize].source()).into_owned();
    let show = |op: &Op| match op {
        Op::Set { local, value } => format!("set {local} {}", part(value)),
        Op::Run(n) => format!("run {}", part(n)),
        Op::JumpUnless { condition, to, otherwise } => format!("unless {} {to} {otherwise}", part(condition)),
        other => format!("{other:?}"),
    };
    create.program.code.iter().map(show).collect()
}

fn error(body: &str) -> u16 {
    create(body).err().map_or(0, |(code, _)| code)
}

#[test]
fn loops_and_choices_become_jumps() {
    let body = "BEGIN DECLARE i INT DEFAULT 1; l: WHILE i < x DO SET i = i + 1; IF i = 3 THEN ITERATE l; \
                ELSEIF i = 4 THEN LEAVE l; ELSE SELECT i; END IF; END WHILE l; SET y = i; END";
    assert_eq!(
        code(body),
        [
            "set 2 1",
            "unless i < x 11 11",
            "set 2 i + 1",
            "unless i = 3 6 10",
            "Jump(1)",
            "Jump(10)",
            "unless i = 4 9 10",
            "Jump(11)",
            "Jump(10)",
            "run SELECT i",
            "Jump(1)",
            "set 1 i",
        ]
    );
}

#[test]
fn blocks_give_up_their_cursors_and_handlers() {
    let body =
        "BEGIN l: BEGIN DECLARE c CURSOR FOR SELECT 1; DECLARE EXIT HANDLER FOR NOT FOUND SET y = 1; LEAVE l; END; END";
    assert_eq!(
        code(body),
        [
            "PushCursor(0)",
            "PushHandler(0)",
            "Jump(5)",
            "set 1 1",
            "EndHandler { exit: Some(10) }",
            "PopHandlers(1)",
            "PopCursors(1)",
            "Jump(10)",
            "PopHandlers(1)",
            "PopCursors(1)",
        ]
    );
}

#[test]
fn variables_win_over_columns() {
    let parsed = create("SELECT x, t.x, z FROM t").expect("it parses");
    let Statement::CreateRoutine(create) = &parsed.statement else { panic!("a routine") };
    let locals = |e: &&Expr| matches!(e, Expr::Local(0));
    assert_eq!(create.program.parts[0].exprs().iter().filter(locals).count(), 1);
}

#[test]
fn what_is_refused() {
    for (body, code) in [
        ("BEGIN DECLARE a INT; DECLARE A INT; END", 1331),
        ("BEGIN DECLARE a CONDITION FOR 1; DECLARE a CONDITION FOR 2; END", 1332),
        ("BEGIN DECLARE a CURSOR FOR SELECT 1; DECLARE a CURSOR FOR SELECT 2; END", 1333),
        ("BEGIN DECLARE a CURSOR FOR SELECT 1; DECLARE b INT; END", 1337),
        ("BEGIN DECLARE EXIT HANDLER FOR 1 SET x = 1; DECLARE a CURSOR FOR SELECT 1; END", 1338),
        ("BEGIN DECLARE EXIT HANDLER FOR 1 SET x = 1; DECLARE EXIT HANDLER FOR 1 SET x = 2; END", 1413),
        ("BEGIN DECLARE EXIT HANDLER FOR c SET x = 1; END", 1319),
        ("BEGIN DECLARE EXIT HANDLER FOR SQLSTATE 'x' SET x = 1; END", 1407),
        ("BEGIN LEAVE l; END", 1308),
        ("l: BEGIN ITERATE l; END", 1308),
        ("l: BEGIN l: BEGIN END; END", 1309),
        ("l: BEGIN END m", 1310),
        ("RETURN 1", 1313),
        ("USE d", 1314),
        ("FETCH c INTO x", 1324),
        ("SELECT 1 INTO z", 1327),
        ("CREATE PROCEDURE q() SELECT 1", 1303),
        ("DROP FUNCTION q", 1357),
        ("SELECT ?", 1064),
    ] {
        assert_eq!(error(body), code, "{body}");
    }
    let function = |body: &str| {
        let text = format!("CREATE FUNCTION f() RETURNS INT {body}");
        sql::parse(text.as_bytes(), SqlMode::default()).err().map_or(0, |e| e.code())
    };
    for (body, code) in [
        ("RETURN 1", 0),
        ("BEGIN SELECT 1; RETURN 1; END", 1415),
        ("BEGIN COMMIT; RETURN 1; END", 1422),
        ("BEGIN EXECUTE s; RETURN 1; END", 1336),
    ] {
        assert_eq!(function(body), code, "{body}");
    }
}
