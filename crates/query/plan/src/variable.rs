//! User variables and system variables in expressions.

use crate::Planner;
use expr::functions::lengths;
use expr::{Expr, Node, functions, string, variable};
use sql::ast::{self, ExprId, Name};
use types::codes::*;
use types::{DataType, Result, TypeKind};

impl Planner<'_> {
    /// One that nothing was assigned to yet is a text.
    pub(super) fn user_variable(&mut self, name: Name) -> Expr {
        self.typed_variable(name, &DataType::string(TypeKind::Text, 0xFFFC, self.settings.literal_collation))
    }

    /// One that nothing was assigned to yet takes the type of what stands beside it.
    pub(crate) fn typed_variable(&mut self, name: Name, like: &DataType) -> Expr {
        (self.found.unsteady, self.found.varies) = (true, true);
        let ty = match self.type_of_variable(name) {
            DataType { kind: TypeKind::Null, .. } => DataType { nullable: true, ..*like },
            known => known,
        };
        Expr::new(Node::UserVariable(variable::key(self.parsed.name(name)).into_owned()), ty)
    }

    /// Of type NULL until something is assigned to it, here or before.
    pub(crate) fn type_of_variable(&self, name: Name) -> DataType {
        let name = variable::key(self.parsed.name(name));
        let here = self.parameters.variables.iter().find(|(n, _)| *n == name);
        variable::kept_type(&here.map_or_else(|| self.env.user_variable(&name).1, |(_, ty)| *ty))
    }

    pub(super) fn assign_user_variable(&mut self, name: Name, value: ExprId) -> Result<Expr> {
        let parsed = self.parsed;
        (self.found.unsteady, self.found.varies) = (true, true);
        let e = self.expr(value)?;
        if self.type_of_variable(name).kind == TypeKind::Null {
            let text = DataType::string(TypeKind::LongText, 0, self.settings.literal_collation);
            self.parameters.variables.push((variable::key(parsed.name(name)).into_owned(), text));
        }
        // What the variable keeps, as long as this value.
        let kept = variable::kept_type(&e.ty);
        let ty = match e.ty.kind {
            kind if kind.is_temporal() => lengths::whole(&e.ty, self.settings.literal_collation),
            TypeKind::Json => DataType::string(TypeKind::LongText, u32::MAX, kept.collation),
            TypeKind::Float => kept,
            TypeKind::Null => DataType::string(TypeKind::VarBinary, 0, kept.collation),
            kind if kind.is_integer() || matches!(kind, TypeKind::Year | TypeKind::Bit) => {
                DataType { length: e.ty.length, ..kept }
            }
            _ => e.ty,
        };
        let ty = DataType { nullable: e.ty.nullable, ..ty };
        Ok(Expr::new(Node::SetUserVariable(parsed.name(name).to_string(), Box::new(e)), ty))
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
        let deprecated = self.env.deprecated_variable(&name);
        self.warnings.literal_warnings.extend(deprecated.map(|text| (ER_WARN_DEPRECATED_SYNTAX, text.to_string())));
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
