//! # Idea
//! How far the work on a program is, for whoever watches: the stages come one after the other, and each says
//! what it has done.

/// A stage of the work on a program, for whoever watches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JavaStage {
    /// What values can be: methods that were looked at.
    PointsTo,
    /// What is true of the whole program.
    Facts,
    /// Which objects threads share.
    Sharing,
    /// The models about objects and static fields.
    Models,
    /// Which locks can make a cycle.
    LockOrders,
    /// The models about locks.
    LockModels,
}

impl JavaStage {
    /// How far it is, in words.
    pub fn words(self, done: usize, total: usize) -> String {
        match self {
            Self::PointsTo => format!("points-to {done} methods"),
            Self::Facts => "facts of the whole program".to_owned(),
            Self::Sharing => "what threads share".to_owned(),
            Self::Models => format!("models {done} of {total}"),
            Self::LockOrders => "orders of locks".to_owned(),
            Self::LockModels => format!("models of locks {done} of {total}"),
        }
    }
}

/// Hears how far the work is: what is done, and of how much.
pub type StageHeard<'a> = dyn FnMut(JavaStage, usize, usize) + 'a;
