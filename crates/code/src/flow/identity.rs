//! # Idea
//! Two `elem` of one array name one element if their indices are one value and neither the array's
//! value nor the index's was made anew in between; constants tell for themselves. What an `elem` gives
//! is therefore named by a *token*, which a use keeps until one of the two definitions is executed
//! again.
//!
//! # Source
//! The design, section 1, *Element identity*.
//!
//! # Requires
//! A validated procedure.

use super::definitions::{Definition, Definitions, ValueId, ValueNode};
use crate::address::Index;
use crate::model::{Point, Procedure};
use crate::statement::{Operation, Value};

/// An array, as far as a procedure knows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrayBase {
    /// What a value leads to.
    Value(ValueId),
    /// What needs no register, such as the address of a global.
    Operand(Value),
}

/// The name of an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ElementToken {
    /// The array.
    pub base: ArrayBase,
    /// The number.
    pub index: Index,
}

/// Whether two tokens are one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identity {
    /// They are.
    Same,
    /// They are not.
    Different,
    /// They may be.
    Unknown,
}

impl ElementToken {
    /// The token of the `elem` at a point; none if there is no `elem`, or nobody comes there.
    pub fn at(procedure: &Procedure, definitions: &Definitions, point: Point) -> Option<Self> {
        let block = &procedure.blocks[point.block];
        let statement = block.statements.get(point.index as usize)?;
        let Operation::Element { base, index, .. } = statement.operation else { return None };
        let value = |register| definitions.value(point, register);
        let base = match base {
            Value::Register(register) => ArrayBase::Value(value(register)?),
            operand => ArrayBase::Operand(operand),
        };
        let index = match index {
            Value::Number(number) => Index::Constant(number),
            Value::Register(register) => {
                let value = value(register)?;
                constant(procedure, definitions, value).map_or(Index::Value(value), Index::Constant)
            }
            _ => Index::Any,
        };
        Some(Self { base, index })
    }

    /// Whether two elements are one, if neither token has ended since.
    pub fn compare(self, other: Self) -> Identity {
        match (self.index, other.index) {
            _ if self.base != other.base => Identity::Unknown,
            (Index::Constant(left), Index::Constant(right)) if left != right => Identity::Different,
            (Index::Any, _) | (_, Index::Any) => Identity::Unknown,
            (left, right) if left == right => Identity::Same,
            _ => Identity::Unknown,
        }
    }

    /// Whether the token ends when the statement at a point is executed, or, for a point at the start
    /// of a block, when the block is entered: a definition of the array or of the number is executed
    /// again.
    pub fn ends_at(self, definitions: &Definitions, point: Point) -> bool {
        let values = [
            match self.base {
                ArrayBase::Value(value) => Some(value),
                ArrayBase::Operand(_) => None,
            },
            match self.index {
                Index::Value(value) => Some(value),
                Index::Constant(_) | Index::Any => None,
            },
        ];
        values.into_iter().flatten().any(|value| match &definitions.nodes[value] {
            ValueNode::Definition(Definition::Statement(at, _)) => *at == point,
            ValueNode::Definition(Definition::Parameter(_)) => false,
            ValueNode::Join { block, .. } => *block == point.block && point.index == 0,
        })
    }
}

/// The number that all definitions of a value move.
fn constant(procedure: &Procedure, definitions: &Definitions, value: ValueId) -> Option<i64> {
    let mut numbers = definitions.of(value).into_iter().map(|definition| match definition {
        Definition::Statement(point, _) => {
            let block = &procedure.blocks[point.block];
            match block.statements[point.index as usize].operation {
                Operation::Move(Value::Number(number)) => Some(number),
                _ => None,
            }
        }
        Definition::Parameter(_) => None,
    });
    let first = numbers.next()??;
    numbers.all(|number| number == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::graph::BlockGraph;
    use crate::flow::liveness::Liveness;
    use crate::model::{BlockId, ProcedureId};
    use crate::text::read;
    use selvedge_base::Id as _;

    fn tokens(body: &str) -> (Vec<(Point, ElementToken)>, Definitions) {
        let text = format!("global g: word[8]\nproc f(p, i)\n{body}");
        let module = read(&text).module.expect("no mistake");
        let procedure = &module.procedures[ProcedureId::from_index(0)];
        let graph = BlockGraph::new(procedure);
        let liveness = Liveness::new(procedure, &graph);
        let definitions = Definitions::new(procedure, &graph, &liveness);
        let mut found = Vec::new();
        for (block, code) in procedure.blocks.iter_enumerated() {
            for index in 0..code.statements.len() {
                let point = Point::new(block, index);
                let token = ElementToken::at(procedure, &definitions, point);
                found.extend(token.map(|token| (point, token)));
            }
        }
        (found, definitions)
    }

    fn compare(body: &str) -> Identity {
        let (found, _) = tokens(body);
        assert_eq!(found.len(), 2, "{body}");
        found[0].1.compare(found[1].1)
    }

    #[test]
    fn one_value_is_one_element() {
        let body = |lines: &str| format!("b0:\n  {}\n  return\n", lines.replace("; ", "\n  "));
        let of = |lines: &str| compare(&body(lines));
        assert_eq!(of("a = elem &g i word; b = elem &g i word"), Identity::Same);
        assert_eq!(of("j = i; a = elem p i word; q = p; b = elem q j word"), Identity::Same);
        assert_eq!(of("a = elem &g 1 word; i = 1; b = elem &g i word"), Identity::Same);
        assert_eq!(of("a = elem &g 1 word; b = elem &g 2 word"), Identity::Different);
        assert_eq!(of("a = elem &g i word; i = load p; b = elem &g i word"), Identity::Unknown);
        assert_eq!(of("a = elem &g i word; b = elem &g 2 word"), Identity::Unknown);
        assert_eq!(of("a = elem p i word; b = elem &g i word"), Identity::Unknown);
        assert_eq!(of("a = elem &g unknown word; b = elem &g unknown word"), Identity::Unknown);
    }

    #[test]
    fn a_token_ends_where_its_index_is_made_again() {
        let body = "\
b0:
  i = load p
  goto b1
b1:
  a = elem &g i word
  if eq i 0 goto b2 else b1
b2:
  b = elem &g i word
  i = add i 1
  goto b1
";
        let (found, definitions) = tokens(body);
        let [(_, first), (_, second)] = found[..] else { panic!("two elements") };
        assert_eq!(first.compare(second), Identity::Same);
        let point = |block, index| Point::new(BlockId::from_index(block), index);
        // The index joins two values where `b1` begins.
        assert!(first.ends_at(&definitions, point(1, 0)));
        assert!(!first.ends_at(&definitions, point(2, 0)));
        let (found, definitions) = tokens("b0:\n  i = load p\n  a = elem &g i word\n  goto b0\n");
        assert!(found[0].1.ends_at(&definitions, point(0, 0)));
        assert!(!found[0].1.ends_at(&definitions, point(0, 1)));
    }
}
