//! Graphs whose nodes are ids.

use crate::id::Id;

/// The strongly connected components of a graph; one comes after those that it leads to.
pub fn components<N: Id, I: Iterator<Item = N>>(
    count: usize,
    next: impl Fn(N) -> I,
) -> Vec<Vec<N>> {
    const UNSEEN: u32 = u32::MAX;
    let mut numbers = vec![UNSEEN; count];
    let mut lows = vec![0_u32; count];
    let mut closed = vec![false; count];
    let mut stack: Vec<N> = Vec::new();
    let mut all = Vec::new();
    let mut number = 0;
    for start in 0..count {
        if numbers[start] != UNSEEN {
            continue;
        }
        let root = N::from_index(start);
        let mut open = vec![(root, next(root))];
        numbers[start] = number;
        lows[start] = number;
        number += 1;
        stack.push(root);
        while let Some((node, rest)) = open.last_mut() {
            let node = *node;
            if let Some(target) = rest.next() {
                let at = target.index();
                if numbers[at] == UNSEEN {
                    numbers[at] = number;
                    lows[at] = number;
                    number += 1;
                    stack.push(target);
                    open.push((target, next(target)));
                } else if !closed[at] {
                    lows[node.index()] = lows[node.index()].min(numbers[at]);
                }
                continue;
            }
            open.pop();
            if let Some((above, _)) = open.last() {
                lows[above.index()] = lows[above.index()].min(lows[node.index()]);
            }
            if lows[node.index()] == numbers[node.index()] {
                let mut component = Vec::new();
                while let Some(one) = stack.pop() {
                    closed[one.index()] = true;
                    component.push(one);
                    if one == node {
                        break;
                    }
                }
                all.push(component);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::define_id;

    define_id!(
        /// A node.
        Node
    );

    #[test]
    fn components_come_after_those_that_they_lead_to() {
        // 0 -> 1 -> 2 -> 0, 2 -> 3, 4 -> 3, 3 -> 5 -> 3, 6 alone.
        let edges: [&[usize]; 7] = [&[1], &[2], &[0, 3], &[5], &[3], &[3], &[]];
        let next = |node: Node| edges[node.index()].iter().map(|&one| Node::from_index(one));
        let all = components(edges.len(), next);
        let mut found: Vec<Vec<usize>> = all
            .iter()
            .map(|one| {
                let mut one: Vec<usize> = one.iter().map(|node| node.index()).collect();
                one.sort_unstable();
                one
            })
            .collect();
        let place = |wanted: usize| found.iter().position(|one| one.contains(&wanted));
        assert!(place(3) < place(0) && place(3) < place(4));
        found.sort();
        assert_eq!(found, [vec![0, 1, 2], vec![3, 5], vec![4], vec![6]]);
    }
}
