//! Rules as MySQL's component prints them, and where it is confused.

use super::*;

fn printed_again(text: &str) -> String {
    match Rules::parse(text) {
        Ok(rules) => rules.print(),
        Err(confused) => format!("{} ({})", confused.at, confused.state),
    }
}

#[test]
fn rules_are_printed_as_mysql_prints_them() {
    for (text, shown) in [
        ("", ""),
        ("IF EXISTS source_line THEN unset source_line.", "IF EXISTS source_line THEN unset source_line."),
        ("if Exists Foo then Throttle 5.", "IF EXISTS Foo THEN throttle 5/60."),
        ("IF a==2 THEN unset.", "IF a==2 THEN unset a."),
        ("IF a=>0 THEN set b= 2.", "IF a>=0 THEN set b:=2."),
        ("IF a<>2 THEN set b:=2.0.", "IF a!=2 THEN set b:=2.000000."),
        ("IF prio>=NOTE THEN drop.", "IF prio>=INFORMATION THEN drop."),
        ("IF prio==7 THEN drop.", "IF prio==7 THEN drop."),
        (
            "IF err_code==ER_STARTUP THEN set err_code:=MY-001003.",
            "IF err_code==MY-001408 THEN set err_code:=MY-001003.",
        ),
        ("IF a==ER_STARTUP THEN drop.", "IF a==1408 THEN drop."),
        (r#"IF a=="\\a\"\'" THEN set err_symbol:='ER_YES'."#, r#"IF a=="\\a\"\'" THEN set err_symbol:="ER_YES"."#),
        (
            "IF EXISTS a AND NOT EXISTS b OR c>=5 THEN drop ELSEIF x<1 THEN throttle 1/2 ELSE drop. IF a>1 THEN drop.",
            "IF EXISTS a AND NOT EXISTS b OR c>=5 THEN drop ELSEIF x<1 THEN throttle 1/2 ELSE drop. IF a>1 THEN drop.",
        ),
        ("  IF a==1 THEN drop  .  ", "IF a==1 THEN drop."),
    ] {
        assert_eq!(printed_again(text), shown, "{text}");
    }
}

#[test]
fn confusion_is_where_mysql_has_it() {
    for (text, at, state) in [
        ("drop.", ".", "getting first token ..."),
        ("foo", "", "getting first token ..."),
        ("ELSE drop.", "drop.", "IF expected"),
        ("IF", "", "field name missing or invalid before comparator"),
        ("IF a", "", "unknown comparator"),
        ("IF EXISTS", "", "field name missing or invalid after EXISTS"),
        ("IF EXISTS THEN drop.", "drop.", "looking for THEN"),
        ("IF EXISTS a>0 THEN drop.", ">0 THEN drop.", "looking for THEN"),
        ("IF NOT field THEN x.", "field THEN x.", "NOT requires EXISTS"),
        ("IF prio>=INFORMATION", "", "looking for THEN"),
        ("IF a==2 THEN", "", "looking for action verb"),
        ("IF a==2 THEN jump.", "jump.", "looking for action verb"),
        ("IF a==2 THEN drop", "", "statement incomplete"),
        ("IF a==2 THEN drop a.", ".", "getting first token ..."),
        ("IF a==2 THEN drop ELSE drop ELSE drop.", "drop.", "ELSE not expected here ..."),
        ("IF a==2 THEN drop ELSE.", ".", "failed to get token after ELSE ..."),
        ("IF a== THEN drop.", "THEN drop.", "malformed number"),
        ("IF a==1e3 THEN drop.", "1e3 THEN drop.", "malformed number"),
        ("IF a==2 THEN set b==2.", "==2.", "malformed number"),
        ("IF a==2 THEN set.", ".", "looking for action's field name"),
        ("IF a==2 THEN set b:=.", ".", "looking for action field's value"),
        ("IF a==2 AND b==3 THEN unset.", ".", "implicit field name only allowed for IFs with exactly 1 condition."),
        ("IF prio==\"error\" THEN drop.", "\"error\" THEN drop.", "unknown prio"),
        ("IF err_code==\"x\" THEN drop.", "\"x\" THEN drop.", "Argument is of string type, field is not."),
        ("IF EXISTS a THEN set component:=1.", "1.", "Argument is of numeric type, field is not."),
        ("IF EXISTS a THEN set prio:=1.5.", "1.5.", "Argument is of float type, field is not."),
        ("IF a=='x THEN drop.", "'x THEN drop.", "testing for prefix"),
        ("IF err_code==ER_X THEN drop.", "ER_X THEN drop.", "unknown ER_code"),
        ("IF err_code==MY-9999999 THEN drop.", "MY-9999999 THEN drop.", "invalid MY-code"),
        ("IF EXISTS misc_cstring THEN drop.", "THEN drop.", "could not set up field for EXISTS"),
        ("IF EXISTS a THEN throttle.", ".", "looking for action field's value"),
        ("IF EXISTS a THEN throttle 1.5.", "1.5.", "action \"throttle\" requires integer or fraction"),
        ("IF EXISTS a THEN throttle 0/2.", "0/2.", "numerator must be larger than 0"),
        (
            "IF EXISTS a THEN throttle 1/1.1.",
            "1.1.",
            "failed to parse denominator of fraction (0 < integer number of seconds <= 604800)",
        ),
    ] {
        assert_eq!(printed_again(text), format!("{at} ({state})"), "{text}");
    }
}

#[test]
fn any_text_is_parsed_or_refused() {
    let words =
        ["IF ", "EXISTS ", "NOT ", "a", "==", "\"", "'", "\\", "THEN ", "drop", ".", "1", "-", "ER_", "ü", "ELSE "];
    let mut seed = 7_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(words[(seed >> 33) as usize % words.len()]);
        }
        if let Ok(rules) = Rules::parse(&text) {
            let shown = rules.print();
            assert_eq!(Rules::parse(&shown).expect("what is printed is parsed").print(), shown, "{text}");
        }
    }
}

#[test]
fn events_are_dropped_throttled_and_changed() {
    let event = |level: Level, second: u64| {
        Event::new(level, 1045, 7, second * 1_000_000, "2026-11-28T08:46:11.445279Z".to_string(), "text")
    };
    let mut rules =
        Rules::parse("IF prio>=NOTE THEN drop. IF prio==WARNING THEN throttle 2/60.").expect("they are rules");
    assert!(!rules.run(&mut event(Level::Note, 100)));
    let ran: Vec<bool> = [100, 101, 102, 159, 160].map(|s| rules.run(&mut event(Level::Warning, s))).to_vec();
    assert_eq!(ran, [true, true, false, false, true]);
    let mut rules =
        Rules::parse("IF thread==7 AND msg!='x' THEN set prio:=NOTE. IF EXISTS msg THEN drop.").expect("rules");
    let mut system = event(Level::System, 1);
    assert!(rules.run(&mut system));
    assert_eq!(system.level(), Level::System);
    let mut rules = Rules::parse("IF EXISTS msg THEN unset msg. IF NOT EXISTS msg THEN set a:=\"b\".").expect("rules");
    let mut changed = event(Level::Error, 1);
    assert!(rules.run(&mut changed));
    assert!(changed.json().contains("\"a\" : \"b\"") && !changed.json().contains("\"msg\""), "{}", changed.json());
}
