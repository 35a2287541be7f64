//! Context-bounded analysis: programs with data, decided below a bound on contexts (paper 001).
