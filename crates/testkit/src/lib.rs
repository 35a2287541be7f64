//! Inputs and slow oracles for the tests of the other crates. Everything is a function of a seed.

pub mod straight;
