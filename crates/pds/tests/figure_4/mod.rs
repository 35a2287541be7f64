//! Figure 4 of paper 004: the rules of the process P0, every call of which takes the lock, with what they
//! write. The paper's Path 1 is made of the first fourteen.

/// Rules 1 to 15.
pub const RULES: [(&str, &str); 15] = [
    ("p e_main -> p n16", ""),
    ("p n16 -> p n17", "["),
    ("p n17 -> p e_tas n18", "("),
    ("p e_tas -> p n10", ""),
    ("p n10 -> p e_get n11", "("),
    ("p e_get -> p x_get", "R"),
    ("p x_get -> p", ""),
    ("p n11 -> p n12", ""),
    ("p n12 -> p e_set x_tas", "("),
    ("p e_set -> p x_set", "W"),
    ("p x_set -> p", ""),
    ("p x_tas -> p", ""),
    ("p n18 -> p x_main", "]"),
    ("p x_main -> p", ""),
    ("p n11 -> p x_tas", ""),
];
