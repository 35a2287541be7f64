//! # Idea
//! A weighted saturation should look at a transition after everything that can still change it.
//! For a system that comes from a program the control flow says when that is: before its
//! successors, and a called procedure before the place that it returns to. So stack symbols are
//! numbered in reverse postorder of a depth-first search that goes to the return place first.
//!
//! # Source
//! Reverse postorder: Kam, Ullman, *Global data flow analysis and iterative algorithms* (1976).
//! The order changes only how much work there is, never the result.

use crate::system::{Pds, Symbol};
use selvedge_base::{Id, IdVec};

/// For each symbol its position in reverse postorder.
pub(crate) fn reverse_postorder<L>(pds: &Pds<L>) -> IdVec<Symbol, u32> {
    // Successors of each symbol, as ranges of one list.
    let mut starts = vec![0u32; pds.symbols + 2];
    for rule in &pds.rules {
        starts[rule.symbol.index() + 2] += rule.rhs.symbols().count() as u32;
    }
    for at in 2..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut successors = vec![Symbol::from_index(0); starts[pds.symbols + 1] as usize];
    for rule in &pds.rules {
        for symbol in rule.rhs.symbols() {
            let next = &mut starts[rule.symbol.index() + 1];
            successors[*next as usize] = symbol;
            *next += 1;
        }
    }
    let mut position = IdVec::filled(0, pds.symbols);
    let mut seen = vec![false; pds.symbols];
    let mut left = pds.symbols as u32;
    // A symbol, and where its successors that are still to be visited end.
    let mut stack: Vec<(usize, u32)> = Vec::new();
    // Symbols with small numbers usually come first, so the search starts there.
    for root in 0..pds.symbols {
        if !seen[root] {
            seen[root] = true;
            stack.push((root, starts[root + 1]));
        }
        while let Some((symbol, end)) = stack.last_mut() {
            if *end > starts[*symbol] {
                // From the back: the place below a push stands behind the called entry.
                *end -= 1;
                let next = successors[*end as usize].index();
                if !seen[next] {
                    seen[next] = true;
                    stack.push((next, starts[next + 1]));
                }
            } else {
                left -= 1;
                position[Symbol::from_index(*symbol)] = left;
                stack.pop();
            }
        }
    }
    position
}

#[cfg(test)]
mod tests {
    use crate::text;

    #[test]
    fn a_callee_comes_before_the_place_it_returns_to() {
        let named =
            text::parse("p main -> p f back\np back -> p end\np f -> p g\np g -> p").unwrap();
        let order = super::reverse_postorder(&named.pds);
        let names = ["main", "f", "g", "back", "end"];
        let positions = names.map(|name| order[named.symbol(name).unwrap()]);
        assert_eq!(positions, [0, 1, 2, 3, 4]);
    }
}
