//! Functions of several languages, translated by hand as their readers will: what the object program
//! has to be able to say. They read, are valid, and print back.

use selvedge_code::text::{print, read};

macro_rules! functions {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let text = include_str!(concat!("functions/", stringify!($name), ".code"));
            let reading = read(text);
            assert_eq!(reading.diagnostics, []);
            let module = reading.module.expect("there is no mistake");
            let code = text.lines().filter(|line| !line.starts_with("//"));
            assert_eq!(print(&module).lines().collect::<Vec<_>>(), code.collect::<Vec<_>>());
        }
    )*};
}

functions! {
    java_synchronized_finally
    java_lambda_virtual
    java_compute_if_absent
    java_read_write_lock
    java_wait_notify
    c_mutex_array
    c_trylock
    c_thread
    cpp_unique_lock
    cpp_static
    rust_arc_spawn
    rust_guard_match
    rust_guard_option_tuple
}
