//! Concurrent pushdown systems in the format of CUBA.
