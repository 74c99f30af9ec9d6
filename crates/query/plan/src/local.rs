//! Variables of stored programs in the statements and expressions that are part of them.

use crate::Planner;
use catalog::Column;
use expr::{Expr, Node};
use std::sync::Arc;
use types::{DataType, TypeKind};

/// What a plan knows of a variable: its values come among the parameters, by number.
#[derive(Clone, Debug)]
pub struct LocalType {
    pub data_type: DataType,
    /// Of ENUM and SET.
    pub members: Option<Arc<[String]>>,
    /// What messages call it.
    pub name: Arc<str>,
}

impl LocalType {
    /// A variable holds what a column of its type would.
    pub fn of(column: &Column) -> LocalType {
        let members = matches!(column.data_type.kind, TypeKind::Enum | TypeKind::Set);
        let members = members.then(|| column.members.clone().into());
        LocalType { data_type: column.data_type, members, name: Arc::from("") }
    }

    /// One of no declared type.
    pub fn plain(data_type: DataType) -> LocalType {
        LocalType { data_type, members: None, name: Arc::from("") }
    }
}

impl Planner<'_> {
    /// What reads a variable of the program.
    pub(crate) fn local(&self, local: u32) -> Expr {
        let ty = &self.settings.locals[local as usize];
        read_as(Node::Local(local as usize, Arc::clone(&ty.name)), ty)
    }
}

/// What `node` gives, a value as columns hold it, as expressions have it.
pub(crate) fn read_as(node: Node, ty: &LocalType) -> Expr {
    let LocalType { data_type: ty, members, .. } = ty;
    match members {
        Some(members) => {
            let number = DataType { nullable: true, ..DataType::new(TypeKind::BigInt).unsigned() };
            let raw = Box::new(Expr::new(node, number));
            let members = Arc::clone(members);
            let node = match ty.kind {
                TypeKind::Enum => Node::EnumText(raw, members),
                _ => Node::SetText(raw, members),
            };
            Expr::new(node, *ty)
        }
        None if ty.kind == TypeKind::Timestamp => Expr::new(Node::LocalTime(Box::new(Expr::new(node, *ty))), *ty),
        None => Expr::new(node, *ty),
    }
}
