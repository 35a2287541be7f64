//! Selvedge's own tooling.

fn main() {}
