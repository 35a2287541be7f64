//! # Idea
//! The library `biodivine-lib-bdd`: each diagram is an array of its own, and diagrams share
//! nothing. That is slow where many diagrams overlap, but so unlike the other backends that it
//! makes a good second opinion.
//!
//! # Invariants
//! 1. The array of a diagram is in depth-first postorder, so equal functions have equal arrays.
//!    An order-preserving renaming keeps that.
//! 2. The node limit holds for each diagram alone, since no nodes are shared. Operations other
//!    than the binary ones check it afterwards.

use std::rc::Rc;

use biodivine_lib_bdd::{Bdd, BddNode, BddPointer, BddVariable, BddVariableSet, op_function};
use selvedge_base::Id;

use selvedge_bdd::manager::{
    BddManager, Exhausted, Shape, Var, check_variables, is_strictly_increasing, keeps_order,
};

/// A manager of `biodivine-lib-bdd`.
pub struct BiodivineManager {
    variables: BddVariableSet,
    node_limit: usize,
}

/// A function of a [`BiodivineManager`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BiodivineNode(Rc<Bdd>);

/// A renaming of a [`BiodivineManager`]: the target of each variable.
#[derive(Clone)]
pub struct BiodivineRenaming(Rc<Vec<BddVariable>>);

impl BiodivineManager {
    /// A manager with this many variables whose diagrams have at most `node_limit` nodes each.
    ///
    /// # Panics
    /// If there are more than [`MAX_VARIABLES`](selvedge_bdd::MAX_VARIABLES) variables.
    pub fn new(variables: usize, node_limit: usize) -> Self {
        check_variables(variables);
        let count = u16::try_from(variables).expect("checked above");
        Self { variables: BddVariableSet::new_anonymous(count), node_limit }
    }

    fn limited(&self, result: Bdd) -> Result<BiodivineNode, Exhausted> {
        // The two constants do not count.
        if result.size() > self.node_limit.saturating_add(2) {
            return Err(Exhausted::Nodes(self.node_limit));
        }
        Ok(BiodivineNode(Rc::new(result)))
    }

    fn binary(
        &self,
        f: &BiodivineNode,
        g: &BiodivineNode,
        operation: fn(Option<bool>, Option<bool>) -> Option<bool>,
    ) -> Result<BiodivineNode, Exhausted> {
        let limit = self.node_limit.saturating_add(2);
        let result = Bdd::binary_op_with_limit(limit, &f.0, &g.0, operation);
        let result = result.ok_or(Exhausted::Nodes(self.node_limit))?;
        self.limited(result)
    }

    /// The diagram below `pointer`, as a diagram of its own.
    fn below(&self, f: &Bdd, root: BddPointer) -> BiodivineNode {
        if root.is_zero() {
            return self.bottom();
        }
        let mut nodes = self.variables.mk_true().to_nodes();
        let mut place = vec![None; root.to_index() + 1];
        place[0] = Some(BddPointer::zero());
        place[1] = Some(BddPointer::one());
        // Depth-first postorder, low before high, gives invariant 1.
        let mut stack = vec![root];
        while let Some(&pointer) = stack.last() {
            if place[pointer.to_index()].is_some() {
                stack.pop();
                continue;
            }
            let (low, high) = (f.low_link_of(pointer), f.high_link_of(pointer));
            match (place[low.to_index()], place[high.to_index()]) {
                (Some(low), Some(high)) => {
                    place[pointer.to_index()] = Some(BddPointer::from_index(nodes.len()));
                    nodes.push(BddNode::mk_node(f.var_of(pointer), low, high));
                }
                (Some(_), None) => stack.push(high),
                (None, _) => stack.push(low),
            }
        }
        // An operation of the library brings the array into the order that it uses itself.
        let result = Bdd::from_nodes(&nodes).expect("copied from a well-formed diagram");
        BiodivineNode(Rc::new(result.and(&result)))
    }
}

/// The variables of a cube.
fn variables_of(cube: &Bdd) -> Vec<BddVariable> {
    let mut vars = Vec::new();
    let mut pointer = cube.root_pointer();
    while !pointer.is_terminal() {
        vars.push(cube.var_of(pointer));
        pointer = cube.high_link_of(pointer);
    }
    vars
}

fn variable(var: Var) -> BddVariable {
    BddVariable::from_index(var.index())
}

impl BddManager for BiodivineManager {
    type Node = BiodivineNode;
    type Renaming = BiodivineRenaming;

    fn variables(&self) -> usize {
        usize::from(self.variables.num_vars())
    }

    fn bottom(&self) -> BiodivineNode {
        BiodivineNode(Rc::new(self.variables.mk_false()))
    }

    fn top(&self) -> BiodivineNode {
        BiodivineNode(Rc::new(self.variables.mk_true()))
    }

    fn literal(&self, var: Var, value: bool) -> Result<BiodivineNode, Exhausted> {
        self.limited(self.variables.mk_literal(variable(var), value))
    }

    fn not(&self, f: &BiodivineNode) -> Result<BiodivineNode, Exhausted> {
        self.limited(f.0.not())
    }

    fn and(&self, f: &BiodivineNode, g: &BiodivineNode) -> Result<BiodivineNode, Exhausted> {
        self.binary(f, g, op_function::and)
    }

    fn or(&self, f: &BiodivineNode, g: &BiodivineNode) -> Result<BiodivineNode, Exhausted> {
        self.binary(f, g, op_function::or)
    }

    fn xor(&self, f: &BiodivineNode, g: &BiodivineNode) -> Result<BiodivineNode, Exhausted> {
        self.binary(f, g, op_function::xor)
    }

    fn ite(
        &self,
        f: &BiodivineNode,
        g: &BiodivineNode,
        h: &BiodivineNode,
    ) -> Result<BiodivineNode, Exhausted> {
        self.limited(Bdd::if_then_else(&f.0, &g.0, &h.0))
    }

    fn exists(&self, f: &BiodivineNode, cube: &BiodivineNode) -> Result<BiodivineNode, Exhausted> {
        self.limited(f.0.exists(&variables_of(&cube.0)))
    }

    fn and_exists(
        &self,
        f: &BiodivineNode,
        g: &BiodivineNode,
        cube: &BiodivineNode,
    ) -> Result<BiodivineNode, Exhausted> {
        let vars = variables_of(&cube.0);
        self.limited(Bdd::binary_op_with_exists(&f.0, &g.0, op_function::and, &vars))
    }

    fn renaming(&self, pairs: &[(Var, Var)]) -> Result<BiodivineRenaming, Exhausted> {
        assert!(is_strictly_increasing(pairs), "the pairs of a renaming must be increasing");
        let mut targets = self.variables.variables();
        for &(source, target) in pairs {
            targets[source.index()] = variable(target);
        }
        Ok(BiodivineRenaming(Rc::new(targets)))
    }

    fn rename(
        &self,
        f: &BiodivineNode,
        renaming: &BiodivineRenaming,
    ) -> Result<BiodivineNode, Exhausted> {
        debug_assert!(
            keeps_order(&self.support(f), |var| Var::from_index(
                renaming.0[var.index()].to_index()
            )),
            "a renaming must keep the order of the support"
        );
        if f.0.as_bool().is_some() {
            return Ok(f.clone());
        }
        let mut nodes = self.variables.mk_true().to_nodes();
        nodes.extend(f.0.pointers().skip(2).map(|pointer| {
            let target = renaming.0[f.0.var_of(pointer).to_index()];
            BddNode::mk_node(target, f.0.low_link_of(pointer), f.0.high_link_of(pointer))
        }));
        let result = Bdd::from_nodes(&nodes).expect("the order of the support is kept");
        Ok(BiodivineNode(Rc::new(result)))
    }

    fn shape(&self, f: &BiodivineNode) -> Shape<BiodivineNode> {
        if let Some(value) = f.0.as_bool() {
            return Shape::Constant(value);
        }
        let root = f.0.root_pointer();
        Shape::Decision {
            var: Var::from_index(f.0.var_of(root).to_index()),
            low: self.below(&f.0, f.0.low_link_of(root)),
            high: self.below(&f.0, f.0.high_link_of(root)),
        }
    }

    fn stored_nodes(&self) -> usize {
        // Nothing is stored beside the diagrams themselves.
        0
    }

    fn collect_garbage(&self) {}

    fn support(&self, f: &BiodivineNode) -> Vec<Var> {
        let mut vars: Vec<Var> =
            f.0.support_set().iter().map(|var| Var::from_index(var.to_index())).collect();
        vars.sort_unstable();
        vars
    }

    fn node_count(&self, f: &BiodivineNode) -> usize {
        f.0.size().saturating_sub(2)
    }
}
