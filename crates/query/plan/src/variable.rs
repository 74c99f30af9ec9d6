//! User variables and system variables in expressions.

use crate::Planner;
use expr::{Expr, Node, functions, string};
use sql::ast::{self, ExprId, Name};
use types::codes::*;
use types::{CollationId, DataType, Result, TypeKind};

impl Planner<'_> {
    pub(super) fn user_variable(&mut self, name: Name) -> Expr {
        let parsed = self.parsed;
        self.found.unsteady = true;
        let name = parsed.name(name).to_ascii_lowercase();
        let from_file = self.parameters.file_variables.iter().find(|(n, _)| *n == name);
        let ty = from_file.map_or_else(|| self.env.user_variable(&name).1, |(_, ty)| *ty);
        Expr::new(Node::UserVariable(name), user_variable_type(ty))
    }

    pub(super) fn assign_user_variable(&mut self, name: Name, value: ExprId) -> Result<Expr> {
        let parsed = self.parsed;
        self.found.unsteady = true;
        let e = self.expr(value)?;
        // Variables have integers of one size.
        let kind = if e.ty.kind.is_integer() { TypeKind::BigInt } else { e.ty.kind };
        let ty = DataType { kind, zerofill: false, ..e.ty };
        Ok(Expr::new(Node::SetUserVariable(parsed.name(name).to_ascii_lowercase(), Box::new(e)), ty))
    }

    pub(super) fn system_variable(&mut self, scope: ast::VarScope, base: Option<Name>, name: Name) -> Result<Expr> {
        let parsed = self.parsed;
        let global = match scope {
            ast::VarScope::Unspecified => None,
            ast::VarScope::Session => Some(false),
            _ => Some(true),
        };
        let name = match base {
            Some(b) => format!("{}.{}", parsed.name(b), parsed.name(name)),
            None => parsed.name(name).to_string(),
        };
        let (_, ty) = self.env.system_variable(global, &name)?;
        self.warnings.notes.extend(self.env.deprecated_variable(&name).map(|text| (ER_WARN_DEPRECATED_SYNTAX, text)));
        let tag = match global {
            None => "",
            Some(true) => "global",
            Some(false) => "session",
        };
        let args = vec![
            string(name.into_bytes(), self.settings.literal_collation),
            string(tag.into(), self.settings.literal_collation),
        ];
        Ok(Expr::new(Node::Call(functions::system_variable(), args), ty))
    }
}

/// The type that a plan gives a user variable with a value of this type: one for values of any size.
pub fn user_variable_type(ty: DataType) -> DataType {
    /// Characters of a MEDIUMTEXT that are a byte each.
    const TEXT_CHARACTERS: u32 = 0xFF_FFFF;
    let ty = match ty.kind {
        // Variables have integers of one size.
        kind if kind.is_integer() => DataType { kind: TypeKind::BigInt, length: 21, zerofill: false, ..ty },
        TypeKind::Double => DataType { length: 23, ..ty },
        kind if kind.is_text() && !kind.is_temporal() && kind != TypeKind::Json && !ty.collation.is_binary() => {
            DataType::string(TypeKind::LongText, TEXT_CHARACTERS, ty.collation)
        }
        TypeKind::Binary | TypeKind::VarBinary | TypeKind::TinyBlob | TypeKind::Blob | TypeKind::MediumBlob => {
            DataType::string(TypeKind::LongBlob, u32::MAX, CollationId::BINARY)
        }
        _ => ty,
    };
    DataType { nullable: true, ..ty }
}
