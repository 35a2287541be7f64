//! # Idea
//! Conditions, expressions and assignments as instructions.

use super::writer::{NotPlain, Plain, Writer, comparison, is_choice};
use super::{AccessNumber, Destination, Op, REGISTERS, Reg};
use crate::program::index;
use selvedge_base::Id;
use selvedge_program::copies::copy_number;
use selvedge_program::{Expr, GlobalId, Operator, Type, Variable, thread_value};

impl Writer<'_, '_> {
    /// This way ends unless a condition has a truth value.
    pub(super) fn test(&mut self, condition: &Expr, truth: bool) -> Plain<()> {
        if is_choice(condition) {
            return Ok(());
        }
        let compared = match condition {
            Expr::Current(_) => Some((condition, 1)),
            _ => comparison(condition),
        };
        if let Some((Expr::Current(Variable::Global(id)), value)) = compared {
            let cell = index(*id) as u32;
            let site = self.site(*id, 1)?;
            self.push(Op::TestGlobal(cell, site, value, truth));
            return Ok(());
        }
        self.value(condition, 0)?;
        if !truth {
            self.push(Op::Not(0));
        }
        self.push(Op::Test(0));
        Ok(())
    }

    pub(super) fn assign(&mut self, assignments: &[(Variable, Expr)]) -> Plain<()> {
        let mut chooses = assignments.iter().filter(|(_, value)| is_choice(value));
        let choosing = chooses.next();
        if chooses.next().is_some() || assignments.len() + 2 > REGISTERS {
            return Err(NotPlain);
        }
        if let (None, [(target, Expr::Constant(literal))]) = (choosing, assignments) {
            let goes = self.target(*target)?;
            if (goes.low..=goes.high).contains(&literal.value()) {
                let value = literal.value();
                self.push(match goes.site {
                    None => Op::Set(goes.cell, value),
                    Some(site) => Op::SetGlobal(goes.cell, site, value),
                });
                return Ok(());
            }
        }
        if let Some((_, value)) = choosing {
            if let Expr::Choose(low, high) = value {
                self.value(low, 0)?;
                self.value(high, 1)?;
            } else {
                self.push(Op::Constant(0, 0));
                self.push(Op::Constant(1, 1));
            }
            self.push(Op::Choose(0));
        }
        let mut stores = Vec::with_capacity(assignments.len());
        let mut reg = Reg::from(choosing.is_some());
        for (target, value) in assignments {
            let goes = self.target(*target)?;
            let at = self.bytecode.targets.len() as u32;
            self.bytecode.targets.push(goes);
            if is_choice(value) {
                stores.push(Op::Store(0, at));
            } else {
                self.value(value, reg)?;
                stores.push(Op::Store(reg, at));
                reg += 1;
            }
        }
        self.bytecode.ops.extend(stores);
        Ok(())
    }

    fn target(&mut self, variable: Variable) -> Plain<Destination> {
        let program = self.code.program;
        let cells = &self.layout.threads[self.thread];
        let (ty, cell, site) = match variable {
            Variable::Global(id) if self.checked.contains(&id) => return Err(NotPlain),
            Variable::Global(id) => (program.globals[id].ty, index(id), Some(self.site(id, 1)?)),
            Variable::Local(id) => {
                let frame = &program.procedures[cells.main].frame;
                (frame.locals[id].ty, cells.locals + index(id), None)
            }
        };
        let (low, high) = program.range(ty);
        let modulo = match ty {
            Type::Mod(n) => n,
            _ => 0,
        };
        Ok(Destination { cell: cell as u32, site, low, high, modulo })
    }

    /// New sites for accesses to some globals.
    pub(super) fn site(&mut self, first: GlobalId, length: u32) -> Plain<AccessNumber> {
        let all = index(first)..index(first) + length as usize;
        if all.into_iter().any(|at| self.special.contains(&Id::from_index(at))) {
            return Err(NotPlain);
        }
        let site = self.bytecode.sites;
        self.bytecode.sites += length as usize;
        AccessNumber::try_from(site).map_err(|_| NotPlain)
    }

    /// The value of an expression in which nothing is chosen.
    pub(super) fn value(&mut self, expr: &Expr, reg: Reg) -> Plain<()> {
        if usize::from(reg) + 1 >= REGISTERS {
            return Err(NotPlain);
        }
        let cells = &self.layout.threads[self.thread];
        let own = cells.locals;
        match expr {
            Expr::Constant(literal) => _ = self.push(Op::Constant(reg, literal.value())),
            Expr::Choice | Expr::Choose(..) | Expr::Next(_) => return Err(NotPlain),
            Expr::Current(Variable::Local(id)) => {
                self.push(Op::Own(reg, (own + index(*id)) as u32));
            }
            Expr::Current(Variable::Global(id)) => {
                let site = self.site(*id, 1)?;
                self.push(Op::Global(reg, index(*id) as u32, site));
            }
            Expr::Element(array, at) => {
                self.value(at, reg)?;
                match array.first {
                    Variable::Local(id) => {
                        let first = (own + index(id)) as u32;
                        self.push(Op::OwnElement(reg, first, array.length));
                    }
                    Variable::Global(id) => {
                        let site = self.site(id, array.length)?;
                        self.push(Op::Element(reg, index(id) as u32, array.length, site));
                    }
                }
            }
            Expr::Me => _ = self.push(Op::Constant(reg, thread_value(Some(self.thread)))),
            Expr::Copy => {
                let copy = copy_number(&self.code.program.threads[self.thread].name);
                self.push(Op::Constant(reg, copy.cast_signed()));
            }
            Expr::Not(inner) => {
                self.value(inner, reg)?;
                self.push(Op::Not(reg));
            }
            Expr::Negate(inner) => {
                self.value(inner, reg)?;
                self.push(Op::Negate(reg));
            }
            Expr::Binary(operator, left, right) => {
                self.value(left, reg)?;
                let decisive = match operator {
                    Operator::And => Some(false),
                    Operator::Or => Some(true),
                    Operator::Implies => {
                        self.push(Op::Not(reg));
                        Some(true)
                    }
                    _ => None,
                };
                if let Some(decisive) = decisive {
                    let end = self.push(Op::If(reg, decisive, 0));
                    self.value(right, reg)?;
                    self.patch_here(end);
                } else if let Expr::Constant(literal) = &**right {
                    self.push(Op::With(*operator, reg, literal.value()));
                } else {
                    self.value(right, reg + 1)?;
                    self.push(Op::Binary(*operator, reg));
                }
            }
            Expr::Ite(parts) => {
                self.value(&parts[0], reg)?;
                let otherwise = self.push(Op::If(reg, false, 0));
                self.value(&parts[1], reg)?;
                let end = self.push(Op::Jump(0));
                self.patch_here(otherwise);
                self.value(&parts[2], reg)?;
                self.patch_here(end);
            }
        }
        Ok(())
    }
}
