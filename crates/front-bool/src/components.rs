//! # Idea
//! The strongly connected components of a graph, without recursion.
//!
//! # Source
//! Tarjan, *Depth-first search and linear graph algorithms* (1972).
//!
//! # Invariants
//! 1. A component has a smaller number than every component from which it can be reached.

/// The components of a graph.
pub struct Components {
    /// The component of each node.
    pub of: Vec<usize>,
    /// How many there are.
    pub count: usize,
}

/// The components of the graph whose node `n` has the successors `successors[n]`.
pub fn components(successors: &[Vec<usize>]) -> Components {
    const NONE: usize = usize::MAX;
    let nodes = successors.len();
    let mut order = vec![NONE; nodes];
    let mut low = vec![0; nodes];
    let mut of = vec![NONE; nodes];
    let mut open = Vec::new();
    let (mut visited, mut count) = (0, 0);
    // The nodes on the way from the root, each with how many of its successors were looked at.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..nodes {
        if order[root] != NONE {
            continue;
        }
        path.push((root, 0));
        while let Some((node, next)) = path.pop() {
            if next == 0 {
                order[node] = visited;
                low[node] = visited;
                visited += 1;
                open.push(node);
            }
            if let Some(&successor) = successors[node].get(next) {
                path.push((node, next + 1));
                if order[successor] == NONE {
                    path.push((successor, 0));
                } else if of[successor] == NONE {
                    low[node] = low[node].min(order[successor]);
                }
                continue;
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    of[member] = count;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
            if let Some(&(above, _)) = path.last() {
                low[above] = low[above].min(low[node]);
            }
        }
    }
    Components { of, count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_from_the_end() {
        let found = components(&[vec![1], vec![2, 3], vec![1], vec![3], vec![]]);
        assert_eq!(found.count, 4);
        assert_eq!(found.of[1], found.of[2]);
        assert!(found.of[3] < found.of[1] && found.of[1] < found.of[0]);
        assert_ne!(found.of[4], found.of[3]);
    }

    #[test]
    fn a_long_path_needs_no_deep_stack() {
        let successors: Vec<Vec<usize>> =
            (0..200_000).map(|node| if node < 199_999 { vec![node + 1] } else { vec![] }).collect();
        let found = components(&successors);
        assert_eq!((found.count, found.of[199_999]), (200_000, 0));
    }
}
