//! Laws of budgets that are divided again and again, over pieces of work that look like random ones.

use selvedge_base::{Budget, StopReason};

/// Numbers that look like random ones, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % limit
    }
}

/// What became of a piece of work.
#[derive(PartialEq, Eq, Debug)]
struct Piece {
    done: u64,
    stopped: bool,
}

/// Work in nested parts and shares: gives what was done in sum, and notes every piece.
fn work(budget: &Budget, depth: u32, numbers: &mut Numbers, pieces: &mut Vec<Piece>) -> u64 {
    let mut all = 0;
    let count = 1 + numbers.below(4);
    for at in 0..count {
        let (kind, steps) = (numbers.below(5), numbers.below(60));
        let part = match kind {
            0 => budget.part(),
            1 => budget.metered_part(),
            2 => budget.part_with_steps(steps),
            _ => budget.share((count - at) as usize),
        };
        let left = part.steps_left().expect("the whole has a limit");
        let mut done = 0;
        if depth > 0 && numbers.below(2) == 0 {
            done = work(&part, depth - 1, numbers, pieces);
        } else {
            for _ in 0..numbers.below(40) {
                let cost = 1 + numbers.below(5);
                if part.charge(cost).is_err() {
                    break;
                }
                done += cost;
            }
        }
        assert!(done < left.max(1), "a part did {done} of {left} steps");
        pieces.push(Piece { done, stopped: part.stopped().is_some() });
        all += done;
    }
    all
}

#[test]
fn a_limit_holds_for_all_parts_in_sum() {
    let mut limited = 0;
    for seed in 0..2000 {
        let limit = 1 + Numbers(seed).below(400);
        let run = || {
            let (whole, mut pieces) = (Budget::with_steps(limit), Vec::new());
            let done = work(&whole, 3, &mut Numbers(seed), &mut pieces);
            (whole, done, pieces)
        };
        let (whole, done, pieces) = run();
        assert!(done < limit, "seed {seed}: {done} of {limit}");
        // What parts did was charged to the whole, with the last charge of each that was stopped.
        let stops = pieces.iter().filter(|piece| piece.stopped).count() as u64;
        let charged = done..=done + 5 * stops;
        assert!(charged.contains(&whole.polls()), "seed {seed}: {} in {charged:?}", whole.polls());
        // Nothing but work decides.
        assert_eq!(run().2, pieces);
        assert_eq!(whole.irreproducible(), None);
        limited += u32::from(whole.stopped().is_some());
    }
    assert!((200..1800).contains(&limited), "{limited} of 2000 met the limit");
}

#[test]
fn what_a_share_leaves_is_for_the_others() {
    for seed in 0..500 {
        let mut numbers = Numbers(seed);
        let (limit, count) = (100 + numbers.below(1000), 2 + numbers.below(8));
        let whole = Budget::with_steps(limit);
        let mut done = 0;
        for at in 0..count {
            let left = whole.steps_left().expect("a limit");
            let share = whole.share((count - at) as usize);
            let is_last = at + 1 == count;
            let wanted = if is_last { u64::MAX } else { numbers.below(2 * limit / count) };
            let own = (0..wanted).take_while(|_| share.poll().is_none()).count() as u64;
            // The last one has all that is left, and no other more than its share.
            let most = if is_last { left } else { left / (count - at) };
            assert_eq!(own, wanted.min(most - 1), "seed {seed}, share {at} of {count}");
            done += own;
        }
        assert_eq!(whole.stopped(), Some(StopReason::Steps));
        assert!(done < limit && done + count >= limit, "seed {seed}: {done} of {limit}");
    }
}
