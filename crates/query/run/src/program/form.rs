//! How a part of a program is planned.

use plan::LocalType;
use sql::ast::ExprId;
use std::sync::Arc;
use types::DataType;

/// How a part of a program is planned.
#[derive(Clone, Debug)]
pub struct Form {
    /// Types of the program's variables, by number.
    pub locals: Arc<[LocalType]>,
    /// Of a statement that is not the executor's, or of none: the expressions whose values are wanted.
    pub values: Option<Box<[ExprId]>>,
    /// Types of what stands for `?` in a statement that is no program's.
    pub params: Box<[DataType]>,
}
