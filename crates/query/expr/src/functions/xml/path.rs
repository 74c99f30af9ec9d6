//! The part of XPath 1.0 that MySQL has, read by recursive descent: manual 14.11, "XML Functions".
//!
//! A rule gives whether it matched. What a failed rule has taken stays taken, as in MySQL, which so accepts `@5` and `child::.`;
//! an error flag stops all that follows.

use crate::operator::{ArithOp, CmpOp};
use types::codes::*;
use types::{Charset, DECIMALS_NOT_FIXED, DataType, Result, SqlError, TypeKind, Value, err};

/// Steps and operators that a path may have: dropping and evaluating its tree must find room on the stack.
const ITEMS_MAX: usize = 1000;

/// Where a step leads from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    SelfNode,
}

/// MySQL knows the names of five more axes and takes them all for `child`.
const AXES: [(&str, Axis); 13] = [
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Child),
    ("following-sibling", Axis::Child),
    ("namespace", Axis::Child),
    ("parent", Axis::Parent),
    ("preceding", Axis::Child),
    ("preceding-sibling", Axis::Child),
    ("self", Axis::SelfNode),
];

const NODE_TYPES: [&str; 4] = ["comment", "text", "processing-instruction", "node"];

/// Functions of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Last,
    Not,
    Number,
    Position,
    Round,
    StringLength,
    Substring,
    Sum,
    True,
}

/// Name, function, fewest and most arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 16] = [
    ("boolean", Function::Boolean, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("concat", Function::Concat, 2, 255),
    ("contains", Function::Contains, 2, 2),
    ("count", Function::Count, 1, 1),
    ("false", Function::False, 0, 0),
    ("floor", Function::Floor, 1, 1),
    ("last", Function::Last, 0, 0),
    ("not", Function::Not, 1, 1),
    ("number", Function::Number, 1, 1),
    ("position", Function::Position, 0, 0),
    ("round", Function::Round, 1, 1),
    ("string-length", Function::StringLength, 0, 1),
    ("substring", Function::Substring, 2, 3),
    ("sum", Function::Sum, 1, 1),
    ("true", Function::True, 0, 0),
];

/// What gives nodes.
#[derive(Clone, Debug)]
pub enum Set {
    Root,
    /// The node that a predicate is asked of.
    Context,
    /// Nodes of a name, all for a name that begins with `*`.
    Step(Box<Set>, Axis, Vec<u8>),
    Union(Box<Set>, Box<Set>),
    /// Those that a condition holds for.
    Filter(Box<Set>, Box<Item>),
    /// The one at a position from 1.
    Nth(Box<Set>, Box<Item>),
}

/// A part of a path's expression.
#[derive(Clone, Debug)]
pub enum Item {
    Set(Set),
    Constant(Value<'static>, DataType),
    /// A user variable, by its name in lower case.
    Variable(String),
    Compare(CmpOp, Box<Item>, Box<Item>),
    Arith(ArithOp, Box<Item>, Box<Item>),
    Negate(Box<Item>),
    And(Box<Item>, Box<Item>),
    Or(Box<Item>, Box<Item>),
    Call(Function, Vec<Item>),
}

impl Item {
    /// Is it a condition, which a predicate does not take for a position?
    fn is_condition(&self) -> bool {
        use Function::{Boolean, Contains, False, Not, True};
        match self {
            Item::Set(_) | Item::Compare(..) | Item::And(..) | Item::Or(..) => true,
            Item::Call(f, _) => matches!(f, Boolean | Contains | False | Not | True),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    End,
    Error,
    Name,
    Text,
    Digits,
    And,
    Or,
    Div,
    Mod,
    /// Place in [`FUNCTIONS`].
    Function(usize),
    NodeType,
    Axis(Axis),
    Sign(u8),
}

#[derive(Clone, Copy)]
struct Token {
    term: Term,
    from: usize,
    to: usize,
}

struct Parser<'p> {
    path: &'p [u8],
    charset: Charset,
    next: Token,
    /// The token taken last.
    taken: Token,
    axis: Axis,
    item: Option<Item>,
    /// Where a relative path starts; `None`: at the root, outside of predicates.
    context: Option<Set>,
    failed: bool,
    /// An error with its own message.
    error: Option<SqlError>,
    items: usize,
}

/// Reads a path. Errors 1105, 1436.
pub fn parse(path: &[u8], charset: Charset) -> Result<Item> {
    let start = Token { term: Term::Error, from: 0, to: 0 };
    let mut p = Parser {
        path,
        charset,
        next: start,
        taken: start,
        axis: Axis::Child,
        item: None,
        context: None,
        failed: false,
        error: None,
        items: 0,
    };
    p.next = p.scan(0);
    let matched = p.or() && p.take(Term::End);
    match (p.error.take(), p.item.take()) {
        (Some(e), _) => Err(e),
        (None, Some(item)) if matched => Ok(item),
        _ => Err(p.complaint("XPATH syntax error: ", p.next.from)),
    }
}

impl Parser<'_> {
    fn complaint(&self, what: &str, from: usize) -> SqlError {
        let rest = &self.path[from..];
        SqlError::new(ER_UNKNOWN_ERROR, format!("{what}'{}'", String::from_utf8_lossy(&rest[..rest.len().min(32)])))
    }

    /// Does a name go on, or start, with the character at `at`? Its length; 0: no.
    fn name_part(&self, at: usize, start: bool) -> usize {
        let Some(&byte) = self.path.get(at) else { return 0 };
        if byte == b'_' || !start && (byte == b'-' || byte == b'.') {
            return 1;
        }
        let (code, len) = self.charset.decode(&self.path[at..]);
        let c = char::from_u32(code).unwrap_or('\u{FFFD}');
        if c.is_alphabetic() || !start && c.is_numeric() { len } else { 0 }
    }

    fn scan(&self, at: usize) -> Token {
        let path = self.path;
        let from = at + path[at..].iter().take_while(|b| **b == b' ').count();
        let token = |term, to| Token { term, from, to };
        let Some(&first) = path.get(from) else { return token(Term::End, from) };
        let mut to = from + self.name_part(from, true);
        if to > from {
            loop {
                match self.name_part(to, false) {
                    0 => break,
                    len => to += len,
                }
            }
            return token(word(&path[from..to], &path[to..]), to);
        }
        match first {
            b'!' | b'$' | b'('..=b'/' | b':' | b'<'..=b'>' | b'@' | b'[' | b']' | b'|' => {
                token(Term::Sign(first), from + 1)
            }
            b'0'..=b'9' => {
                let digits = path[from..].iter().take_while(|b| b.is_ascii_digit()).count();
                token(Term::Digits, from + digits)
            }
            b'"' | b'\'' => match path[from + 1..].iter().position(|b| *b == first) {
                Some(i) => token(Term::Text, from + i + 2),
                None => token(Term::Error, path.len()),
            },
            _ => token(Term::Error, from + 1),
        }
    }

    fn take(&mut self, term: Term) -> bool {
        let matched = self.next.term == term && !self.failed;
        if matched {
            self.taken = self.next;
            self.next = self.scan(self.next.to);
        }
        matched
    }

    fn sign(&mut self, sign: u8) -> bool {
        self.take(Term::Sign(sign))
    }

    fn fail(&mut self) -> bool {
        self.failed = true;
        false
    }

    fn raise(&mut self, e: SqlError) -> bool {
        self.error.get_or_insert(e);
        self.fail()
    }

    /// Counts a node of the tree.
    fn count(&mut self) -> bool {
        self.items += 1;
        self.items <= ITEMS_MAX
            || self.raise(SqlError::new(ER_UNKNOWN_ERROR, "XPATH error: the expression is too long"))
    }

    fn set(&mut self, item: Item) -> bool {
        self.item = Some(item);
        self.count()
    }

    /// A step from the context, which it becomes.
    fn step(&mut self, axis: Axis, name: &[u8]) -> bool {
        let from = self.context.take().unwrap_or(Set::Root);
        self.context = Some(Set::Step(Box::new(from), axis, name.to_vec()));
        self.count()
    }

    /// The item read before and the one that `rule` reads.
    fn pair(&mut self, rule: fn(&mut Self) -> bool) -> Option<(Box<Item>, Box<Item>)> {
        let left = self.item.take();
        if !rule(self) {
            self.failed = true;
            return None;
        }
        Some((Box::new(left?), Box::new(self.item.take()?)))
    }

    fn or(&mut self) -> bool {
        if let Some((used, size)) = sync::stack::overrun() {
            return self.raise(err!(ER_STACK_OVERRUN_NEED_MORE, used, size, size / 2));
        }
        if !self.and() {
            return false;
        }
        while self.take(Term::Or) {
            let Some((a, b)) = self.pair(Self::and) else { return false };
            self.set(Item::Or(a, b));
        }
        true
    }

    fn and(&mut self) -> bool {
        if !self.equality() {
            return false;
        }
        while self.take(Term::And) {
            let Some((a, b)) = self.pair(Self::equality) else { return false };
            self.set(Item::And(a, b));
        }
        true
    }

    fn equality_operator(&mut self) -> Option<CmpOp> {
        let (next, taken) = (self.next, self.taken);
        if self.sign(b'!') {
            if self.sign(b'=') {
                return Some(CmpOp::Ne);
            }
            (self.next, self.taken) = (next, taken);
            return None;
        }
        self.sign(b'=').then_some(CmpOp::Eq)
    }

    fn equality(&mut self) -> bool {
        self.comparisons(Self::relation, Self::equality_operator)
    }

    fn relation_operator(&mut self) -> Option<CmpOp> {
        if self.sign(b'<') {
            return Some(if self.sign(b'=') { CmpOp::Le } else { CmpOp::Lt });
        }
        match self.sign(b'>') {
            true => Some(if self.sign(b'=') { CmpOp::Ge } else { CmpOp::Gt }),
            false => None,
        }
    }

    fn relation(&mut self) -> bool {
        self.comparisons(Self::sum, Self::relation_operator)
    }

    fn comparisons(&mut self, rule: fn(&mut Self) -> bool, operator: fn(&mut Self) -> Option<CmpOp>) -> bool {
        if !rule(self) {
            return false;
        }
        let mut from = self.next.from;
        while let Some(op) = operator(self) {
            let Some((a, b)) = self.pair(rule) else { return false };
            if let (Item::Set(_), Item::Set(_)) = (&*a, &*b) {
                let e = self.complaint("XPATH error: comparison of two nodesets is not supported: ", from);
                return self.raise(e);
            }
            self.set(Item::Compare(op, a, b));
            from = self.next.from;
        }
        true
    }

    fn arithmetic(&mut self, rule: fn(&mut Self) -> bool, operators: &[(Term, ArithOp)]) -> bool {
        if !rule(self) {
            return false;
        }
        while let Some((_, op)) = operators.iter().find(|(term, _)| self.take(*term)) {
            let Some((a, b)) = self.pair(rule) else { return false };
            self.set(Item::Arith(*op, a, b));
        }
        true
    }

    fn sum(&mut self) -> bool {
        self.arithmetic(Self::product, &[(Term::Sign(b'+'), ArithOp::Add), (Term::Sign(b'-'), ArithOp::Sub)])
    }

    fn product(&mut self) -> bool {
        let operators = [(Term::Sign(b'*'), ArithOp::Mul), (Term::Div, ArithOp::IntDiv), (Term::Mod, ArithOp::Mod)];
        self.arithmetic(Self::unary, &operators)
    }

    fn unary(&mut self) -> bool {
        let mut signs = 0;
        while self.sign(b'-') {
            signs += 1;
        }
        if !self.union() {
            return false;
        }
        for _ in 0..signs {
            let Some(item) = self.item.take() else { return false };
            if !self.set(Item::Negate(Box::new(item))) {
                return false;
            }
        }
        true
    }

    fn union(&mut self) -> bool {
        if !self.path_expression() {
            return false;
        }
        while self.sign(b'|') {
            let Some(Item::Set(left)) = self.item.take() else { return false };
            if !self.path_expression() {
                return self.fail();
            }
            let Some(Item::Set(right)) = self.item.take() else { return self.fail() };
            self.set(Item::Set(Set::Union(Box::new(left), Box::new(right))));
        }
        true
    }

    fn path_expression(&mut self) -> bool {
        self.location() || self.filter()
    }

    fn location(&mut self) -> bool {
        let saved = self.context.clone();
        self.context.get_or_insert(Set::Root);
        let matched = self.relative() || self.absolute();
        self.item = self.context.take().map(Item::Set);
        self.context = saved;
        matched
    }

    fn absolute(&mut self) -> bool {
        if !self.sign(b'/') {
            return false;
        }
        self.context = Some(Set::Root);
        if self.sign(b'/') {
            return self.step(Axis::DescendantOrSelf, b"*") && self.relative();
        }
        self.relative();
        !self.failed
    }

    fn relative(&mut self) -> bool {
        if !self.one_step() {
            return false;
        }
        while self.sign(b'/') {
            if self.sign(b'/') {
                self.step(Axis::DescendantOrSelf, b"*");
            }
            if !self.one_step() {
                return self.fail();
            }
        }
        true
    }

    fn one_step(&mut self) -> bool {
        self.full_step() || self.short_step()
    }

    fn full_step(&mut self) -> bool {
        self.axis();
        if !self.node_test() {
            return false;
        }
        while self.sign(b'[') {
            let of = Box::new(self.context.replace(Set::Context).unwrap_or(Set::Root));
            if !self.or() || !self.sign(b']') {
                return self.fail();
            }
            let Some(item) = self.item.take() else { return self.fail() };
            let condition = item.is_condition();
            let item = Box::new(item);
            self.context = Some(if condition { Set::Filter(of, item) } else { Set::Nth(of, item) });
            self.count();
        }
        true
    }

    fn axis(&mut self) {
        if let Term::Axis(axis) = self.next.term
            && self.take(self.next.term)
            && self.sign(b':')
            && self.sign(b':')
        {
            self.axis = axis;
            return;
        }
        self.axis = if self.sign(b'@') { Axis::Attribute } else { Axis::Child };
    }

    /// A type of node, such as `text()`, chooses nothing.
    fn node_test(&mut self) -> bool {
        if self.sign(b'*') {
            return self.step(self.axis, b"*");
        }
        if self.qualified_name() {
            let path = self.path;
            return self.step(self.axis, &path[self.taken.from..self.taken.to]);
        }
        self.take(Term::NodeType) && self.sign(b'(') && self.sign(b')')
    }

    fn short_step(&mut self) -> bool {
        if !self.sign(b'.') {
            return false;
        }
        !self.sign(b'.') || self.step(Axis::Parent, b"*")
    }

    /// Operators are names where a name is wanted.
    fn plain_name(&mut self) -> bool {
        [Term::Name, Term::And, Term::Or, Term::Mod, Term::Div].into_iter().any(|term| self.take(term))
    }

    fn qualified_name(&mut self) -> bool {
        if !self.plain_name() {
            return false;
        }
        let from = self.taken.from;
        if !self.sign(b':') {
            return true;
        }
        let matched = self.plain_name();
        if matched {
            self.taken.from = from;
        }
        matched
    }

    fn filter(&mut self) -> bool {
        if !self.primary() {
            return false;
        }
        if !self.sign(b'/') {
            return true;
        }
        let Some(Item::Set(from)) = self.item.take() else {
            self.next = self.taken;
            return self.fail();
        };
        let saved = self.context.replace(from);
        if self.sign(b'/') {
            self.step(Axis::DescendantOrSelf, b"*");
        }
        let matched = self.relative();
        self.item = self.context.take().map(Item::Set);
        self.context = saved;
        matched
    }

    fn primary(&mut self) -> bool {
        (self.sign(b'(') && self.or() && self.sign(b')'))
            || self.variable()
            || self.text()
            || self.number()
            || self.call()
    }

    /// `$@name`, a user variable. `$name` would be a variable of a stored program, and error 1105 says that there is none.
    fn variable(&mut self) -> bool {
        if !self.sign(b'$') {
            return false;
        }
        let dollar = self.taken.from;
        let user = self.sign(b'@');
        if !self.take(Term::Name) {
            return false;
        }
        if !user {
            let e = self.complaint("Unknown XPATH variable at: ", dollar);
            return self.raise(e);
        }
        let name = String::from_utf8_lossy(&self.path[self.taken.from..self.taken.to]).to_lowercase();
        self.set(Item::Variable(name))
    }

    fn text(&mut self) -> bool {
        if !self.take(Term::Text) {
            return false;
        }
        let text = self.path[self.taken.from + 1..self.taken.to - 1].to_vec();
        self.set(Item::Constant(Value::Bytes(text.into()), DataType::new(TypeKind::VarChar)))
    }

    /// Digits, with a point behind them and more digits or not: the point makes it a DOUBLE that shows those digits.
    fn number(&mut self) -> bool {
        if !self.take(Term::Digits) {
            return false;
        }
        let from = self.taken.from;
        if !self.sign(b'.') {
            let digits = &self.path[from..self.taken.to];
            // What is past the end of an unsigned integer is its end, in the bits of a signed one.
            let n = digits.iter().try_fold(0u64, |n, d| n.checked_mul(10)?.checked_add((d - b'0') as u64));
            let n = n.unwrap_or(u64::MAX) as i64;
            return self.set(Item::Constant(Value::Int(n), DataType::new(TypeKind::BigInt)));
        }
        let fraction = if self.take(Term::Digits) { self.taken.to - self.taken.from } else { 0 };
        let (n, _) = types::number::parse_f64(&self.path[from..self.taken.to]);
        let decimals = u8::try_from(fraction).unwrap_or(DECIMALS_NOT_FIXED).min(DECIMALS_NOT_FIXED);
        self.set(Item::Constant(Value::Double(n), DataType { decimals, ..DataType::new(TypeKind::Double) }))
    }

    fn call(&mut self) -> bool {
        let Term::Function(i) = self.next.term else { return false };
        let (_, function, min, max) = FUNCTIONS[i];
        if !self.take(self.next.term) || !self.sign(b'(') {
            return false;
        }
        let mut args = Vec::new();
        while args.len() < max && self.or() {
            args.extend(self.item.take());
            if !self.sign(b',') {
                break;
            }
        }
        if args.len() < min || !self.sign(b')') {
            return false;
        }
        let of_context = matches!(function, Function::Last | Function::Position)
            || function == Function::StringLength && args.is_empty();
        if of_context && self.context.is_none() {
            return false;
        }
        if matches!(function, Function::Count | Function::Sum) && !matches!(args[0], Item::Set(_)) {
            return false;
        }
        self.set(Item::Call(function, args))
    }
}

/// What a word is, by what comes behind it.
fn word(word: &[u8], behind: &[u8]) -> Term {
    let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    if behind.starts_with(b"(") {
        return match FUNCTIONS.iter().position(|f| is(f.0)) {
            Some(i) => Term::Function(i),
            None if NODE_TYPES.iter().any(|n| is(n)) => Term::NodeType,
            None => Term::Name,
        };
    }
    if behind.starts_with(b"::") {
        return AXES.iter().find(|a| is(a.0)).map_or(Term::Name, |a| Term::Axis(a.1));
    }
    match () {
        () if is("and") => Term::And,
        () if is("or") => Term::Or,
        () if is("div") => Term::Div,
        () if is("mod") => Term::Mod,
        () => Term::Name,
    }
}
