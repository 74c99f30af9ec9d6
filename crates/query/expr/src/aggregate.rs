//! Aggregate functions: what is called, and the accumulator that rows are folded into.

use crate::call::{AggregateCall, AggregateKind};
use crate::operator::ArithOp;
use crate::{Execution, Expr, Node, Scope, convert, document, functions, number, operand};
use hashbrown::HashSet;
use std::borrow::Cow;
use std::cmp::Ordering;
use types::codes::*;
use types::json::Json;
use types::{CollationId, DataType, Decimal, Result, SqlError, TypeKind, Value, err};

impl AggregateCall {
    /// A call of an aggregate function as an expression of its type. Errors 1064, 1241, 1267, 3514.
    pub fn expr(kind: AggregateKind, distinct: bool, mut args: Vec<Expr>) -> Result<Expr> {
        // What is never NULL is counted without being computed.
        if kind == AggregateKind::Count && !distinct && args.iter().all(is_counted_unseen) {
            args.clear();
        }
        let args: Vec<Expr> = match kind {
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => {
                args.into_iter().map(bit_operand).collect::<Result<_>>()?
            }
            AggregateKind::Sum
            | AggregateKind::Avg
            | AggregateKind::StdPop
            | AggregateKind::StdSamp
            | AggregateKind::VarPop
            | AggregateKind::VarSamp => args.into_iter().map(operand::arith_number).collect(),
            _ => args,
        };
        use AggregateKind::*;
        if let (Min | Max, Some(e)) = (kind, args.first()) {
            super::compare::collation_for(&[e, e], if kind == Min { "min" } else { "max" })?;
        }
        let first = args.first().map(|e| e.ty);
        let ty = match (kind, first) {
            (Count, _) => DataType { length: 21, ..DataType::new(TypeKind::BigInt).not_null() },
            (_, None) => return Err(SqlError::new(ER_PARSE_ERROR, "You have an error in your SQL syntax")),
            (Sum, Some(t)) => number::sum_type(&t, false),
            (Avg, Some(t)) => number::sum_type(&t, true),
            (Min | Max, Some(t)) if matches!(t.kind, TypeKind::Enum | TypeKind::Set) => {
                DataType::string(TypeKind::Char, t.length, t.collation)
            }
            (Min | Max, Some(t)) => DataType { nullable: true, zerofill: false, ..t },
            (Any, Some(t)) => DataType { nullable: true, zerofill: t.zerofill && t.kind.is_bytes(), ..t },
            (BitAnd | BitOr | BitXor, Some(t)) if is_binary(&t) => {
                DataType::string(TypeKind::VarBinary, t.length + 1, CollationId::BINARY).unsigned().not_null()
            }
            (BitAnd | BitOr | BitXor, _) => {
                DataType { length: 21, ..DataType::new(TypeKind::BigInt).unsigned().not_null() }
            }
            (StdPop | StdSamp | VarPop | VarSamp, _) => DataType { length: 23, ..DataType::new(TypeKind::Double) },
            (JsonArray | JsonObject, _) => convert::json_type(),
            (GroupConcat, Some(t)) => DataType::string(TypeKind::Text, 0, t.collation),
        };
        if args.len() > 1 && !matches!(kind, Count | JsonObject) {
            return Err(err!(ER_OPERAND_COLUMNS, 1));
        }
        let call = AggregateCall { kind, distinct, args, order: Vec::new(), separator: Vec::new(), ty, quiet: false };
        Ok(Expr::new(Node::Aggregate(Box::new(call)), ty))
    }

    /// `most`: `group_concat_max_len`.
    pub fn group_concat(
        args: Vec<Expr>,
        distinct: bool,
        order: Vec<(Expr, bool)>,
        separator: Vec<u8>,
        most: u64,
    ) -> Result<Expr> {
        let refs: Vec<&Expr> = args.iter().collect();
        let collation = match refs.iter().all(|e| matches!(e.node, Node::Const(Value::Null))) {
            true => CollationId::BINARY,
            false => super::compare::result_collation(&refs, "group_concat")?,
        };
        const VARCHAR_MAX: u64 = 512;
        let set = collation.charset();
        let most = most / set.mbminlen() as u64;
        let (kind, characters) = match (most <= VARCHAR_MAX, collation.is_binary()) {
            (true, false) => (TypeKind::VarChar, most),
            (true, true) => (TypeKind::VarBinary, most),
            // MySQL takes each of the bytes for a character.
            (false, false) => (TypeKind::LongText, most * u64::from(set.mbmaxlen())),
            (false, true) => (TypeKind::LongBlob, most),
        };
        let ty = DataType::string(kind, characters.min(u64::from(u32::MAX)) as u32, collation);
        let separator = collation.charset().from_utf8(&separator).into_owned();
        let args = args.into_iter().map(|e| super::compare::in_charset(e, collation)).collect();
        let call =
            AggregateCall { kind: AggregateKind::GroupConcat, distinct, args, order, separator, ty, quiet: false };
        Ok(Expr::new(Node::Aggregate(Box::new(call)), ty))
    }

    /// The call that gives the first row's value of `e`.
    pub fn any(e: Expr) -> AggregateCall {
        let ty = e.ty;
        let kind = AggregateKind::Any;
        AggregateCall {
            kind,
            distinct: false,
            args: vec![e],
            order: Vec::new(),
            separator: Vec::new(),
            ty,
            quiet: false,
        }
    }
}

/// Longest binary string that BIT_AND, BIT_OR and BIT_XOR take.
const BIT_BYTES_MAX: u32 = 511;

fn is_binary(t: &DataType) -> bool {
    t.kind.is_bytes() && t.collation.is_binary()
}

/// An operand of BIT_AND, BIT_OR, BIT_XOR: a binary string, or a number. Error 3514.
fn bit_operand(e: Expr) -> Result<Expr> {
    let e = operand::enum_number(e);
    if !is_binary(&e.ty) {
        return Ok(operand::bit_number(e));
    }
    if e.ty.kind.is_blob() || e.ty.length > BIT_BYTES_MAX {
        return Err(SqlError::new(
            ER_INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE,
            format!(
                "Aggregate bitwise functions cannot accept arguments longer than {BIT_BYTES_MAX} bytes; consider using \
                 the SUBSTRING() function"
            ),
        ));
    }
    Ok(e)
}

/// A row of GROUP_CONCAT before sorting: sort values and text.
struct Piece {
    keys: Vec<Value<'static>>,
    text: Vec<u8>,
}

/// Bytes of a character, at most.
const CHARACTER_BYTES_MAX: usize = 4;

/// What the rows of one group have come to so far.
#[derive(Default)]
pub struct Accumulator {
    count: u64,
    /// SUM and AVG of integers; folded into `decimal` before it overflows.
    int: i128,
    decimal: Option<Decimal>,
    double: f64,
    /// VARIANCE: running mean and sum of squared differences (Welford).
    mean: f64,
    squares: f64,
    bits: u64,
    value: Option<Value<'static>>,
    pieces: Vec<Piece>,
    /// Bytes of the pieces with what stands between them.
    pieces_bytes: usize,
    /// JSON_ARRAYAGG and JSON_OBJECTAGG: keys (empty for arrays) and values.
    members: Vec<(String, Json)>,
    /// Bytes of them, at least; and whether the document is longer than `max_allowed_packet` whatever follows, and they are gone.
    members_bytes: usize,
    outgrown: bool,
    seen: HashSet<Vec<u8>>,
    /// Bytes of `seen`, roughly.
    seen_bytes: usize,
}

impl Accumulator {
    /// Ready for another group, with its buffers kept.
    pub fn reset(&mut self, call: &AggregateCall) {
        self.count = 0;
        self.int = 0;
        self.decimal = None;
        self.double = 0.0;
        self.mean = 0.0;
        self.squares = 0.0;
        self.bits = if call.kind == AggregateKind::BitAnd { u64::MAX } else { 0 };
        self.value = None;
        self.pieces.clear();
        self.pieces_bytes = 0;
        self.members.clear();
        self.members_bytes = 0;
        self.outgrown = false;
        self.seen.clear();
        self.seen_bytes = 0;
    }

    /// Bytes of the values that DISTINCT has seen, roughly.
    pub fn memory(&self) -> usize {
        self.seen_bytes
    }

    /// Of a group without rows.
    pub fn new(call: &AggregateCall) -> Accumulator {
        let mut a = Accumulator::default();
        a.reset(call);
        a
    }

    /// Folds the current row in. `scratch` is for keys of DISTINCT.
    #[inline]
    pub fn add(
        &mut self,
        call: &AggregateCall,
        run: &dyn Execution,
        at: Scope<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        use AggregateKind::*;
        if call.args.is_empty() {
            self.count += 1;
            return Ok(());
        }
        // The hot path: numbers are summed up.
        if matches!(call.kind, Sum | Avg) && !call.distinct {
            let v = call.args[0].eval(run, at)?;
            if v.is_null() {
                return Ok(());
            }
            self.count += 1;
            match v {
                Value::Int(i) => self.int += i as i128,
                Value::UInt(i) => self.int += i as i128,
                v => return self.sum(&v, run),
            }
            return Ok(());
        }
        if matches!(call.kind, Min | Max) {
            let v = call.args[0].eval(run, at)?;
            return if v.is_null() { Ok(()) } else { self.extreme(call, &v, run) };
        }
        self.add_slow(call, run, at, scratch)
    }

    /// Folds rows in whose values nobody asks for: of a call without arguments.
    pub fn count_unseen(&mut self, rows: u64) {
        self.count += rows;
    }

    /// MIN and MAX, whether of all values or of the distinct ones.
    fn extreme(&mut self, call: &AggregateCall, v: &Value<'_>, run: &dyn Execution) -> Result<()> {
        self.count += 1;
        let order = match (v, &self.value) {
            (_, None) => {
                self.keep(v);
                return Ok(());
            }
            (Value::Int(v), Some(Value::Int(best))) => v.cmp(best),
            (v, Some(best)) => super::compare::values(v, best, call.ty.collation, run)?,
        };
        if order == if call.kind == AggregateKind::Min { Ordering::Less } else { Ordering::Greater } {
            self.keep(v);
        }
        Ok(())
    }

    /// Takes a row out that was folded in before. Only for calls that let it: see [`AggregateCall::may_remove`].
    pub fn remove(&mut self, call: &AggregateCall, run: &dyn Execution, at: Scope<'_>) -> Result<()> {
        let Some(e) = call.args.first() else {
            self.count -= 1;
            return Ok(());
        };
        let v = e.eval(run, at)?;
        if v.is_null() {
            return Ok(());
        }
        self.count -= 1;
        match v {
            _ if call.kind == AggregateKind::Count => {}
            Value::Int(i) => self.int -= i as i128,
            Value::UInt(i) => self.int -= i as i128,
            v => {
                let rest = self.decimal.unwrap_or(Decimal::ZERO).checked_sub(v.to_decimal());
                self.decimal = Some(rest.ok_or_else(|| crate::error::out_of_range("DECIMAL", "sum"))?);
            }
        }
        Ok(())
    }

    fn add_slow(
        &mut self,
        call: &AggregateCall,
        run: &dyn Execution,
        at: Scope<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        use AggregateKind::*;
        if call.kind == Any {
            if self.count == 0 {
                self.value = Some(call.args[0].eval(run, at)?.into_owned());
                self.count = 1;
            }
            return Ok(());
        }
        if matches!(call.kind, JsonArray | JsonObject) {
            return self.add_member(call, run, at);
        }
        if call.args.len() > 1 || call.distinct {
            scratch.clear();
            for e in &call.args {
                let v = e.eval(run, at)?;
                if v.is_null() {
                    return Ok(());
                }
                if call.distinct {
                    crate::key::encode_key(scratch, &v, &e.ty, false);
                }
            }
        }
        if call.distinct {
            if self.seen.contains(&scratch[..]) {
                return Ok(());
            }
            run.check_work(scratch.len())?;
            self.seen_bytes += scratch.len() + size_of::<Vec<u8>>();
            run.check_growth(self.seen_bytes)?;
            self.seen.insert(scratch.clone());
        }
        if call.kind == GroupConcat {
            return self.add_piece(call, run, at);
        }
        let v = call.args[0].eval(run, at)?;
        if v.is_null() {
            return Ok(());
        }
        self.count += 1;
        match call.kind {
            Count | Any | Min | Max | GroupConcat | JsonArray | JsonObject => {}
            Sum | Avg => self.sum(&v, run)?,
            BitAnd | BitOr | BitXor if call.ty.kind == TypeKind::VarBinary => self.add_bytes(call.kind, &v, run)?,
            BitAnd | BitOr | BitXor => {
                super::integer::check(&v, &call.args[0], run, at)?;
                let bits = convert::bits64(&v, run);
                match call.kind {
                    BitAnd => self.bits &= bits,
                    BitOr => self.bits |= bits,
                    _ => self.bits ^= bits,
                }
            }
            StdPop | StdSamp | VarPop | VarSamp => {
                if let Value::Bytes(b) = &v {
                    convert::warn_truncated_double(b, run);
                }
                let x = v.to_f64();
                let delta = x - self.mean;
                self.mean += delta / self.count as f64;
                self.squares += delta * (x - self.mean);
            }
        }
        Ok(())
    }

    /// Keeps a copy, in the old one's memory where there is some.
    fn keep(&mut self, v: &Value<'_>) {
        match (&mut self.value, v) {
            (Some(Value::Bytes(Cow::Owned(old))), Value::Bytes(new)) => {
                old.clear();
                old.extend_from_slice(new);
            }
            (slot, v) => *slot = Some(super::reborrow(v).into_owned()),
        }
    }

    /// Folds a binary string in. Error 3513.
    #[cold]
    fn add_bytes(&mut self, kind: AggregateKind, v: &Value<'_>, run: &dyn Execution) -> Result<()> {
        use crate::operator::BitOp;
        let op = match kind {
            AggregateKind::BitAnd => BitOp::And,
            AggregateKind::BitOr => BitOp::Or,
            _ => BitOp::Xor,
        };
        self.value = Some(match &self.value {
            Some(so_far) => number::bits(op, so_far, v, true, run)?.into_owned(),
            None => super::reborrow(v).into_owned(),
        });
        Ok(())
    }

    fn sum(&mut self, v: &Value<'_>, run: &dyn Execution) -> Result<()> {
        match v {
            Value::Int(i) => self.int += *i as i128,
            Value::UInt(i) => self.int += *i as i128,
            Value::Decimal(d) => {
                let sum = self.decimal.unwrap_or(Decimal::ZERO).checked_add(*d);
                self.decimal = Some(sum.ok_or_else(|| crate::error::out_of_range("DECIMAL", "sum"))?);
            }
            Value::Bytes(b) => {
                convert::warn_truncated_double(b, run);
                self.double += v.to_f64();
            }
            Value::Double(d) => self.double += d,
            Value::Json(_) => self.double += super::document::json_number(v, run).to_f64(),
            v => {
                let sum = self.decimal.unwrap_or(Decimal::ZERO).checked_add(v.to_decimal());
                self.decimal = Some(sum.ok_or_else(|| crate::error::out_of_range("DECIMAL", "sum"))?);
            }
        }
        Ok(())
    }

    fn add_piece(&mut self, call: &AggregateCall, run: &dyn Execution, at: Scope<'_>) -> Result<()> {
        let mut text = Vec::new();
        for e in &call.args {
            let v = e.eval(run, at)?;
            if v.is_null() {
                return Ok(());
            }
            let part = convert::text(&v, &e.ty);
            run.check_work(part.len())?;
            text.extend_from_slice(&part);
        }
        // Nobody sees more than `group_concat_max_len`, and one character beyond it says that something was cut.
        let most = run.group_concat_max();
        if call.order.is_empty() && self.pieces_bytes > most {
            return Ok(());
        }
        text.truncate(most.saturating_add(CHARACTER_BYTES_MAX));
        text.shrink_to_fit();
        let between = if self.pieces.is_empty() { 0 } else { call.separator.len() };
        self.pieces_bytes = self.pieces_bytes.saturating_add(text.len() + between);
        let mut keys = Vec::with_capacity(call.order.len());
        for (e, _) in &call.order {
            keys.push(e.eval(run, at)?.into_owned());
        }
        self.pieces.push(Piece { keys, text });
        Ok(())
    }

    fn add_member(&mut self, call: &AggregateCall, run: &dyn Execution, at: Scope<'_>) -> Result<()> {
        let mut key = String::new();
        if call.kind == AggregateKind::JsonObject {
            let k = call.args[0].eval(run, at)?;
            if k.is_null() {
                return Err(err!(ER_JSON_DOCUMENT_NULL_KEY));
            }
            key = functions::json::member_name(&convert::text(&k, &call.args[0].ty), &call.args[0].ty)?;
        }
        let e = &call.args[call.args.len() - 1];
        let v = e.eval(run, at)?;
        if let Value::Json(b) | Value::Bytes(b) = &v {
            run.check_work(b.len())?;
        }
        let value = document::scalar(&v, e)?;
        self.count += 1;
        if self.outgrown {
            return Ok(());
        }
        self.members_bytes += member_bytes(&key, &value);
        self.members.push((key, value));
        // Keys may have come several times: objects are looked through once there is as much again.
        let packets = if call.kind == AggregateKind::JsonObject { 2 } else { 1 };
        if self.members_bytes > packets * run.max_packet() {
            self.shrink_members(call, run);
        }
        Ok(())
    }

    /// The members are more than a document may have, unless keys have come several times.
    #[cold]
    fn shrink_members(&mut self, call: &AggregateCall, run: &dyn Execution) {
        if call.kind == AggregateKind::JsonObject {
            let object = types::json::Object::from_members(std::mem::take(&mut self.members));
            self.members = object.into_members().collect();
            self.members_bytes = self.members.iter().map(|(key, value)| member_bytes(key, value)).sum();
        }
        self.outgrown = self.members_bytes > run.max_packet();
        if self.outgrown {
            self.members = Vec::new();
        }
    }

    fn total(&self) -> Decimal {
        let int = Decimal::from_parts(self.int < 0, self.int.unsigned_abs(), 0);
        match self.decimal {
            None => int,
            Some(d) if self.int == 0 => d,
            Some(d) => d.checked_add(int).unwrap_or(d),
        }
    }

    /// The group's value.
    pub fn result(&mut self, call: &AggregateCall, run: &dyn Execution) -> Result<Value<'_>> {
        use AggregateKind::*;
        let real = matches!(call.ty.kind, TypeKind::Double | TypeKind::Float);
        Ok(match call.kind {
            Count => Value::Int(self.count as i64),
            BitAnd | BitOr | BitXor if call.ty.kind == TypeKind::VarBinary => match &self.value {
                Some(v) => super::reborrow(v),
                // As long as the operands can be.
                None => {
                    let neutral = if call.kind == BitAnd { 0xff } else { 0 };
                    Value::Bytes(vec![neutral; call.ty.length as usize - 1].into())
                }
            },
            BitAnd | BitOr | BitXor => Value::UInt(self.bits),
            _ if self.count == 0 && call.kind != GroupConcat => Value::Null,
            Sum if real => Value::Double(self.double + self.total().to_f64()),
            Sum if call.ty.kind == TypeKind::Decimal && self.double != 0.0 => {
                Value::Double(self.double + self.total().to_f64())
            }
            // Whole times have no digits of the second by themselves.
            Sum => match self.total() {
                d if d.scale() < call.ty.decimals => Value::Decimal(d.round(call.ty.decimals)),
                d => Value::Decimal(d),
            },
            Avg if real || self.double != 0.0 => {
                Value::Double((self.double + self.total().to_f64()) / self.count as f64)
            }
            Avg => self.mean(call, run),
            JsonArray | JsonObject => self.document(call.kind, run)?,
            Min | Max if call.ty.kind == TypeKind::Decimal => match &self.value {
                Some(Value::Decimal(d)) => Value::Decimal(d.round(call.ty.decimals)),
                other => other.as_ref().map_or(Value::Null, super::reborrow),
            },
            Min | Max | Any => self.value.as_ref().map_or(Value::Null, super::reborrow),
            VarSamp | StdSamp if self.count < 2 => Value::Null,
            VarPop => spread(self.squares / self.count as f64, "variance")?,
            StdPop => spread((self.squares / self.count as f64).sqrt(), "std")?,
            VarSamp => spread(self.squares / (self.count - 1) as f64, "var_samp")?,
            StdSamp => spread((self.squares / (self.count - 1) as f64).sqrt(), "stddev_samp")?,
            GroupConcat => self.concatenated(call, run),
        })
    }

    /// JSON_ARRAYAGG, JSON_OBJECTAGG: NULL and a warning where it is longer than a packet.
    fn document(&mut self, kind: AggregateKind, run: &dyn Execution) -> Result<Value<'_>> {
        let members = std::mem::take(&mut self.members);
        let (function, document) = match kind {
            AggregateKind::JsonArray => {
                let list = members.into_iter().map(|(_, v)| v).collect();
                ("json_arrayagg", functions::json::aggregate_array(list)?)
            }
            _ => ("json_objectagg", functions::json::aggregate_object(members)?),
        };
        Ok(match document {
            Value::Json(bytes) if !self.outgrown && !run.outgrows_packet(function, bytes.len())? => Value::Json(bytes),
            _ => {
                if self.outgrown {
                    run.outgrows_packet(function, usize::MAX)?;
                }
                Value::Null
            }
        })
    }

    /// GROUP_CONCAT, cut at `group_concat_max_len` with warning 1260.
    fn concatenated(&mut self, call: &AggregateCall, run: &dyn Execution) -> Value<'_> {
        if self.pieces.is_empty() {
            return Value::Null;
        }
        self.pieces.sort_by(|a, b| {
            for ((x, y), (e, descending)) in a.keys.iter().zip(&b.keys).zip(&call.order) {
                let o = types::compare_nulls_first(x, y, e.ty.collation);
                if o != Ordering::Equal {
                    return if *descending { o.reverse() } else { o };
                }
            }
            Ordering::Equal
        });
        let most = run.group_concat_max();
        let mut out = Vec::new();
        for (i, p) in self.pieces.iter().enumerate() {
            if i > 0 {
                out.extend_from_slice(&call.separator);
            }
            out.extend_from_slice(&p.text);
            if out.len() > most {
                let set = CollationId::charset(call.ty.collation);
                let mut end = 0;
                while end < out.len() {
                    let n = set.decode(&out[end..]).1;
                    if end + n > most {
                        break;
                    }
                    end += n;
                }
                out.truncate(end);
                run.push_warning(err!(ER_CUT_VALUE_GROUP_CONCAT, i + 1));
                break;
            }
        }
        Value::Bytes(Cow::Owned(out))
    }

    /// AVG of exact numbers.
    fn mean(&self, call: &AggregateCall, run: &dyn Execution) -> Value<'_> {
        let n = Decimal::from_parts(false, self.count as u128, 0);
        let (total, more) = (self.total(), run.div_increment());
        // Whole times have no digits of the second by themselves.
        let own = call.ty.decimals.saturating_sub(more as u8);
        let total = if total.scale() < own { total.round(own) } else { total };
        match total.checked_div(n, more) {
            Some(v) => Value::Decimal(v.round(call.ty.decimals)),
            None => Value::Null,
        }
    }
}

/// Bytes that a member has in a document, at least.
fn member_bytes(key: &str, value: &Json) -> usize {
    let value = match value {
        Json::String(text) => text.len(),
        Json::Opaque(_, bytes) => bytes.len(),
        // An element of an array takes so many bytes of it.
        Json::Array(list) => list.len() * 3,
        Json::Object(members) => members.len() * 7,
        _ => 0,
    };
    key.len() + value + 3
}

/// Error 1690 of what no double holds.
fn spread<'a>(v: f64, function: &str) -> Result<Value<'a>> {
    if v.is_finite() { Ok(Value::Double(v)) } else { Err(crate::error::out_of_range("DOUBLE", function)) }
}

/// Numbers and texts of the statement, and sums of them.
fn is_counted_unseen(e: &Expr) -> bool {
    let is_sum = |e: &Expr| match &e.node {
        Node::Const(_) | Node::Param(_) | Node::Neg(_) => true,
        Node::Arith(op, ..) => matches!(op, ArithOp::Add | ArithOp::Sub | ArithOp::Mul),
        Node::Cast(_) => e.ty.kind.is_numeric(),
        _ => false,
    };
    !e.any(&mut |e| e.ty.nullable || e.ty.kind == TypeKind::Null || !is_sum(e))
}
