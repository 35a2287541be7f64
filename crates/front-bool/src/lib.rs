//! Concurrent Boolean programs, in the dialects of Boppo and GETAFIX.
